"""`fulfillment login` and `logout`."""

from __future__ import annotations

import time
import webbrowser
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Annotated

import typer

from store_fulfillment import Client, OAuthError, Tokens, finish_sign_in, start_sign_in
from store_fulfillment.command import profiles
from store_fulfillment.command.screen import notes, plain, reported, screen

SECONDS_TO_SIGN_IN = 300
SEEN = "Other users of this machine can see arguments: type it when asked, or set the variable."
DONE = b"<!doctype html><meta charset=utf-8><title>Signed in</title><p>You may close this window and go back."


@reported
def login(
    url: Annotated[str, typer.Option(envvar="FULFILLMENT_URL", prompt="Address of the service")],
    client_id: Annotated[
        str, typer.Option(envvar="FULFILLMENT_CLIENT_ID", prompt="External ID of the application")
    ],
    subscription_key: Annotated[
        str,
        typer.Option(
            envvar="FULFILLMENT_SUBSCRIPTION_KEY", prompt="Subscription key", hide_input=True, help=SEEN
        ),
    ],
    client_secret: Annotated[
        str | None,
        typer.Option(
            envvar="FULFILLMENT_CLIENT_SECRET",
            prompt="A key of the application (empty if it has none)",
            prompt_required=False,
            hide_input=True,
            help=SEEN,
        ),
    ] = None,
    machine: Annotated[
        bool, typer.Option(help="Sign in as the application itself, without a browser.")
    ] = False,
    scope: Annotated[
        list[str] | None, typer.Option(help="What to ask for; repeat it. Default: the usual ones.")
    ] = None,
    port: Annotated[int, typer.Option(help="Of this machine, for the browser to come back to.")] = 0,
    open_browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Or print the address only.")
    ] = True,
) -> None:
    """Sign in, and keep it for the other commands.

    In the browser as yourself: the application needs the reply URL http://127.0.0.1/callback, of any port.
    With --machine as the application itself, by one of its keys.
    """
    if machine and not client_secret:
        raise typer.BadParameter("a machine needs a key of the application: set FULFILLMENT_CLIENT_SECRET")
    tokens = None if machine else in_browser(url, client_id, client_secret, scope or [], port, open_browser)
    profile = profiles.Profile(url.rstrip("/"), client_id, client_secret or None, subscription_key, tokens)
    with Client(profile.url, credentials=profile.credentials(), subscription_key=subscription_key) as client:
        stores = client.stores.list()
    profiles.save(profile)
    screen.print(plain(f"Signed in at {profile.url}; {len(stores)} stores are open to you."))


@reported
def logout() -> None:
    """Forget who is signed in."""
    screen.print("Signed out." if profiles.forget() else "You were not signed in.")


def in_browser(
    url: str, client_id: str, client_secret: str | None, scopes: list[str], port: int, open_browser: bool
) -> Tokens:
    """Waits on a port of this machine for the browser to come back (RFC 8252)."""
    came: list[str] = []

    class Callback(BaseHTTPRequestHandler):
        # Browsers open connections ahead and send nothing over them; the next one must not wait for that.
        timeout = 2

        def do_GET(self) -> None:
            is_callback = self.path.startswith("/callback?")
            if is_callback:
                came.append(self.path)
            self.send_response(200 if is_callback else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(DONE if is_callback else b"")

        def log_message(self, *_: object) -> None:
            """Addresses hold codes; they are not written anywhere."""

    with HTTPServer(("127.0.0.1", port), Callback) as server:
        server.timeout = 1
        address = f"http://127.0.0.1:{server.server_port}"
        sign_in = start_sign_in(url, client_id, f"{address}/callback", scopes)
        notes.print(f"Sign in here: {plain(sign_in.url)}", soft_wrap=True)
        if open_browser:
            webbrowser.open(sign_in.url)
        ends = time.monotonic() + SECONDS_TO_SIGN_IN
        with notes.status("Waiting for the browser"):
            # Ignores requests of other programs on this machine.
            while not (ours := [one for one in came if sign_in.state in one]):
                if time.monotonic() > ends:
                    raise OAuthError("timeout", "The browser did not come back within five minutes.")
                server.handle_request()
    return finish_sign_in(sign_in, address + ours[0], client_secret or None)
