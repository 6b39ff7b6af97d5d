"""Callers without credentials, or with invented ones."""

from tests.benchmarks.neighbours.kinds import Kinds
from tests.benchmarks.neighbours.raw import BOUNDARY, CSRF, FORM, UNIQUE, form, request, token_request
from tests.benchmarks.neighbours.scene import Scene

ANONYMOUS = Kinds("anonymous")
INVENTED = {"Authorization": "Bearer invented", "Ocp-Apim-Subscription-Key": "invented"}
# About what Granian takes, and what a line of nginx takes.
LONG, SHORT = 390_000, 15_900
FORM_BYTES = 1_000_000


def patterns(length: int, start: int = 0) -> str:
    """Media types with asterisks, all different."""
    parts = (f"*a*b*{start + number}*/x" for number in range(length // 14))
    return ",".join(parts)[:length]


@ANONYMOUS.kind("accept-long")
def accept_long(scene: Scene) -> list[bytes]:
    return [
        request("GET", "/api/v1/store", {"Accept": patterns(LONG, start)}) for start in range(0, 400, 100)
    ]


@ANONYMOUS.kind("accept-long-token")
def accept_long_token(scene: Scene) -> list[bytes]:
    return [
        request("GET", "/api/v1/store", {**INVENTED, "Accept": patterns(LONG, start)})
        for start in range(0, 400, 100)
    ]


@ANONYMOUS.kind("accept-short")
def accept_short(scene: Scene) -> list[bytes]:
    return [
        request("GET", "/api/v1/store", {**INVENTED, "Accept": patterns(SHORT, start)})
        for start in range(0, 400_000, 2_000)
    ]


@ANONYMOUS.kind("header-lines")
def header_lines(scene: Scene) -> list[bytes]:
    return [request("GET", "/api/v1/store", {f"X-Line-{number}": "a, b; q=1 " * 380 for number in range(90)})]


@ANONYMOUS.kind("language-header")
def language_header(scene: Scene) -> list[bytes]:
    languages = ",".join(f"x{number}-y;q=0.{number % 10}" for number in range(LONG // 12))
    return [request("GET", "/accounts/login/", {"Accept-Language": languages, "If-None-Match": languages})]


@ANONYMOUS.kind("cookies")
def cookies(scene: Scene) -> list[bytes]:
    crowd = "; ".join(f"c{number}={number}" for number in range(LONG // 14))
    return [request("GET", "/accounts/login/", {"Cookie": crowd}), request("GET", "/", {"Cookie": crowd})]


@ANONYMOUS.kind("long-query")
def long_query(scene: Scene) -> list[bytes]:
    query = "&".join(f"{number}=" for number in range(2_700))
    codes = ",".join(f"x{number}" for number in range(2_700))
    return [
        request("GET", f"/api/v1/store/demo/order/exportview?{query[:16_000]}", INVENTED),
        request("GET", f"/accounts/login/?next={'/' * 16_000}"),
        request("GET", f"/oauth/authorize?{query[:16_000]}"),
        request("GET", f"/api/v1/delivery/eddm?postalCodes={codes[:15_000]}", INVENTED),
        request("GET", f"/api/v1/store?{query * 4}"[:60_000]),
    ]


@ANONYMOUS.kind("odd-paths")
def odd_paths(scene: Scene) -> list[bytes]:
    paths = ["/" * 2_000, "/api/v1/" + "%C3%A4/" * 290, "/static/" + "../" * 600, "/admin/" + "a/" * 900]
    paths += [f"/proofs/{'A' * 1_500}/front.png", f"/assets/{'a:' * 700}/x.png", f"/icons/{'0' * 1_900}.png"]
    return [request("GET", path) for path in paths]


@ANONYMOUS.kind("forged-addresses")
def forged_addresses(scene: Scene) -> list[bytes]:
    """Of files that only a signature opens."""
    token = "eyJwIjoiNWYzYjEyMzQtMDAwMC00MDAwLTgwMDAtMDAwMDAwMDAwMDAwIn0:1vXyZa:" + "A" * 43
    return [request("GET", f"/{kind}/{token}/front.png") for kind in ("proofs", "assets")]


@ANONYMOUS.kind("sign-in-wrong")
def sign_in_wrong(scene: Scene) -> list[bytes]:
    """Each try with another name, so that only the address is limited."""
    return [
        form("/accounts/login/", username=f"name{UNIQUE}", password="x" * 4_000),
        form("/accounts/login/", username="user", password=f"wrong{UNIQUE}"),
    ]


@ANONYMOUS.kind("password-reset")
def password_reset(scene: Scene) -> list[bytes]:
    return [
        form("/accounts/password-reset/", email="user@print.example"),
        form("/accounts/password-reset/", email=f"{UNIQUE}@print.example"),
    ]


@ANONYMOUS.kind("sign-up")
def sign_up(scene: Scene) -> list[bytes]:
    person = {"first_name": "Nora", "last_name": "New", "password": "a long pass phrase"}
    return [
        form("/accounts/signup/", username=f"nora{UNIQUE}", email=f"nora{UNIQUE}@print.example", **person)
    ]


@ANONYMOUS.kind("form-fields")
def form_fields(scene: Scene) -> list[bytes]:
    """The largest forms that are accepted without a sign-in."""
    headers = {"Content-Type": FORM, "Cookie": f"csrftoken={CSRF}"}
    fields = (b"a=b&" * (FORM_BYTES // 4))[:FORM_BYTES]
    escaped = b"username=" + b"%41" * (FORM_BYTES // 3 - 100)
    return [
        request("POST", path, headers, body)
        for path in ("/accounts/login/", "/oauth/token")
        for body in (fields, escaped)
    ]


@ANONYMOUS.kind("form-parts")
def form_parts(scene: Scene) -> list[bytes]:
    head = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Cookie": f"csrftoken={CSRF}"}
    part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n\r\n'.encode()
    many = part * (FORM_BYTES // len(part))
    near = b"\r\n--" + b"b" * 23
    endless = part + near * ((FORM_BYTES - len(part)) // len(near))
    return [request("POST", "/accounts/login/", head, body) for body in (many, endless)]


@ANONYMOUS.kind("slow-body", pace="drip-body")
def slow_body(scene: Scene) -> list[bytes]:
    """Where the body is read before anything is refused."""
    headers = {"Content-Type": FORM, "Cookie": f"csrftoken={CSRF}"}
    body = b"username=" + b"a" * 900_000
    return [request("POST", path, headers, body) for path in ("/accounts/login/", "/oauth/token")]


@ANONYMOUS.kind("slow-head", pace="drip-head")
def slow_head(scene: Scene) -> list[bytes]:
    return [request("GET", "/api/v1/store", {"X-Slow": "a" * 10_000})]


@ANONYMOUS.kind("token-wrong")
def token_wrong(scene: Scene) -> list[bytes]:
    known = scene.world.application.client_id
    grant = {"grant_type": "client_credentials"}
    return [
        token_request(**grant, client_id=known, client_secret=f"wrong-{UNIQUE}"),
        token_request(**grant, client_id=f"client-{UNIQUE}", client_secret="wrong"),
        token_request(grant_type="refresh_token", client_id=known, refresh_token=UNIQUE),
        token_request(
            grant_type="authorization_code",
            client_id=known,
            code=UNIQUE,
            code_verifier="v" * 128,
            redirect_uri="https://mailstudio.example/callback",
        ),
    ]


@ANONYMOUS.kind("public-pages")
def public_pages(scene: Scene) -> list[bytes]:
    """The most expensive public pages, without any cache."""
    paths = ["/api/v1/schema", "/api/v1/docs", "/guide", "/readyz", "/accounts/login/", "/accounts/signup/"]
    paths.append("/.well-known/oauth-authorization-server")
    return [request("GET", path) for path in paths]
