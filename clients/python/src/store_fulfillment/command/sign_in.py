"""`fulfillment login` and `logout`."""

from __future__ import annotations

import sys
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Annotated
from urllib.parse import urlencode

import typer

from store_fulfillment import (
    Client,
    FulfillmentError,
    OAuthError,
    Tokens,
    finish_sign_in,
    revoke_tokens,
    start_sign_in,
)
from store_fulfillment.auth import SignIn
from store_fulfillment.command import profiles
from store_fulfillment.command.screen import AsJson, notes, plain, reported, screen, show_json

SECONDS_TO_SIGN_IN = 300
SEEN = "Other users of this machine can see arguments: set the variable instead."
DONE = b"<!doctype html><meta charset=utf-8><title>Signed in</title><p>You may close this window and go back."
STILL_VALID = "Revoke it in the portal, under Authorized applications, or let it expire."
PASTE = (
    "No browser here? Open the address on another machine, then paste the last address from its address bar."
)


@reported
def login(
    address: Annotated[
        str, typer.Argument(envvar="FULFILLMENT_URL", help="Of the service: https://print.example.")
    ],
    client_id: Annotated[
        str,
        typer.Option(
            envvar="FULFILLMENT_CLIENT_ID",
            help="External ID of one of your applications. Its own subscription key is needed too.",
        ),
    ] = profiles.COMMAND_LINE,
    subscription_key: Annotated[
        str | None, typer.Option(envvar="FULFILLMENT_SUBSCRIPTION_KEY", help=SEEN)
    ] = None,
    client_secret: Annotated[
        str | None, typer.Option(envvar="FULFILLMENT_CLIENT_SECRET", help=f"A key of the application. {SEEN}")
    ] = None,
    machine: Annotated[
        bool, typer.Option("--machine", help="Sign in as the application itself, without a browser.")
    ] = False,
    scope: Annotated[
        list[str] | None, typer.Option(help="A permission to request; repeat it. Default: the usual ones.")
    ] = None,
    port: Annotated[int, typer.Option(help="Of this machine, for the browser to come back to.")] = 0,
    open_browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Or print the address only.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Sign in with the browser, and keep it for the other commands.

    An application of yours needs the reply URL http://127.0.0.1/callback. With --machine the application itself
    signs in, by one of its keys.
    """
    if machine and not client_secret:
        raise typer.BadParameter("--machine needs a key of the application: set FULFILLMENT_CLIENT_SECRET")
    tokens = (
        None if machine else in_browser(address, client_id, client_secret, scope or [], port, open_browser)
    )
    key = subscription_key or (tokens.subscription_key if tokens else None)
    if key is None:
        raise typer.BadParameter(f"{client_id} needs a subscription key: set FULFILLMENT_SUBSCRIPTION_KEY")
    profile = profiles.Profile(address.rstrip("/"), client_id, client_secret or None, key, tokens)
    with Client(profile.url, credentials=profile.credentials(), subscription_key=key) as client:
        stores = client.stores.list()
    location = profiles.save(profile)
    if as_json:
        show_json({"URL": profile.url, "ClientID": client_id, "Stores": len(stores), "KeptIn": location})
        return
    screen.print(plain(f"Signed in at {profile.url}: {len(stores)} stores. Kept in {location}."))


@reported
def logout(as_json: AsJson = False) -> None:
    """Forget the sign-in here, and end it at the service."""
    profile, was_there = profiles.stored(), profiles.forget()
    trouble = end_at_service(profile) if profile else ""
    if as_json:
        show_json({"WasSignedIn": was_there, "Ended": was_there and not trouble})
        return
    screen.print("Signed out." if was_there else "You were not signed in.")
    if trouble:
        notes.print(plain(f"The sign-in could not be ended at the service ({trouble}). {STILL_VALID}"))


def end_at_service(profile: profiles.Profile) -> str:
    """Returns why it failed; empty on success. A sign-in by client credentials stores no token."""
    if profile.tokens is None:
        return ""
    try:
        revoke_tokens(profile.url, profile.client_id, profile.client_secret, profile.tokens)
    except (FulfillmentError, ValueError) as error:
        return str(error)
    return ""


def _callback(came: list[str]) -> type[BaseHTTPRequestHandler]:
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

    return Callback


def in_browser(
    url: str, client_id: str, client_secret: str | None, scopes: list[str], port: int, open_browser: bool
) -> Tokens:
    """Waits on a port of this machine for the browser to come back (RFC 8252), or for its address to be pasted."""
    came: list[str] = []
    with HTTPServer(("127.0.0.1", port), _callback(came)) as server:
        server.timeout = 0.5
        address = f"http://127.0.0.1:{server.server_port}"
        sign_in = start_sign_in(url, client_id, f"{address}/callback", scopes)
        notes.print(f"Sign in here: {plain(sign_in.url)}", soft_wrap=True)
        if not (open_browser and webbrowser.open(sign_in.url)):
            notes.print(PASTE)
            threading.Thread(target=read_pasted, args=(sign_in, came), daemon=True).start()
        ends = time.monotonic() + SECONDS_TO_SIGN_IN
        # Ignores requests of other programs on this machine.
        while not (own := [reply for reply in came if sign_in.state in reply]):
            if time.monotonic() > ends:
                raise OAuthError("timeout", "The browser did not return within five minutes.")
            server.handle_request()
    return finish_sign_in(sign_in, own[0], client_secret or None)


def read_pasted(sign_in: SignIn, came: list[str]) -> None:
    """Reads the address that the browser ends at, or the code alone."""
    for line in sys.stdin:
        text = line.strip()
        if "://" in text:
            if sign_in.state not in text:
                notes.print("[yellow]This address is not from this sign-in. Paste the last address.[/yellow]")
                continue
            came.append(text)
        elif text:
            # Only this sign-in has the verifier of its code (PKCE).
            came.append(
                "/callback?" + urlencode({"code": text, "state": sign_in.state, "iss": sign_in.issuer})
            )
