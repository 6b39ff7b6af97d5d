"""One settings module, driven by the environment. docs/operating/settings.md lists the variables.

Development mode (`FULFILLMENT_MODE=development`, set by `make run`) fills in what a first start needs;
without it a missing or weak secret stops the start. All wrong variables are named at once, at the end.
"""

import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pghistory

from fulfillment.core import environment
from fulfillment.core.api.settings import RATE_LIMIT_HEADERS as RATE_LIMIT_HEADERS
from fulfillment.core.api.settings import REST_FRAMEWORK as REST_FRAMEWORK
from fulfillment.core.api.settings import spectacular_settings
from fulfillment.core.db.connection_settings import POOLERS, connection_settings
from fulfillment.core.observability.logs import logging_settings
from fulfillment.core.observability.telemetry import configure_multiprocess_metrics
from fulfillment.core.web_addresses import web_address
from fulfillment.site.unfold_settings import UNFOLD as UNFOLD

BASE_DIR = Path(__file__).resolve().parent.parent
HTTP = ("http", "https")

environment.collect_mistakes()
# The mistakes in its variables are collected too.
from fulfillment.limits import *  # noqa: E402, F403

MODE = environment.choice("FULFILLMENT_MODE", "production", ("production", "development"))
DEVELOPMENT = MODE == "development"
DEBUG = False

SECRET_KEY, *SECRET_KEY_FALLBACKS = environment.secrets("SECRET_KEY")
PEPPERS = environment.secrets("FULFILLMENT_PEPPERS")
ENCRYPTION_KEYS = environment.secrets("FULFILLMENT_ENCRYPTION_KEYS")

# Every absolute address in a response (issuer, links, proof URLs) starts with this, never with the Host header.
PUBLIC_URL = environment.text("PUBLIC_URL", "http://127.0.0.1:8000" if DEVELOPMENT else "").rstrip("/")
_public = web_address(PUBLIC_URL, {"https", "http"} if DEVELOPMENT else {"https"})
if (
    _public is None
    or not (_public.hostname or "").isascii()
    or _public.netloc.rpartition("@")[1]
    or any((_public.path, _public.query, _public.fragment))
):
    _public = environment.refuse(
        f"PUBLIC_URL is {environment.hide_password(PUBLIC_URL)!r}; write the https address clients use, in "
        "ASCII and without a path, such as https://print.example.",
        urlsplit("https://print.example"),
    )
_host = _public.hostname or ""
API_ROOT = "/api/v1"
API_URL = PUBLIC_URL + API_ROOT

ALLOWED_HOSTS = environment.hosts(
    "ALLOWED_HOSTS",
    ("localhost", "127.0.0.1", "[::1]", _host) if DEVELOPMENT else (_host,),
)
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    # The full configuration of unfold would replace our admin site by its own.
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    # Before ours, so that our admin of their models takes the place of their own.
    "oauth2_provider",
    "procrastinate.contrib.django",
    # An app stands after those that it imports.
    "fulfillment",
    "fulfillment.site.console.ConsoleConfig",
    "accounts",
    "applications",
    "delivery",
    "stores",
    "production",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "pgtrigger",
    "pghistory",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
]

MIDDLEWARE = [
    "fulfillment.site.instrumentation.RequestInstrumentation",
    "fulfillment.site.proxies.TrustedProxies",
    # Outside of all middleware that refuses: a script of another site may read why.
    "fulfillment.site.middleware.CrossOrigin",
    "fulfillment.site.middleware.RetryInterruptedReads",
    "fulfillment.core.http.refusal_page.RefusalPages",
    # Outside of all middleware that responds on its own.
    "fulfillment.site.middleware.SecurityHeaders",
    "applications.oauth.rate_limits.RateLimits",
    "fulfillment.site.middleware.RequestFilter",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "fulfillment.site.middleware.ApiHistory",
    "fulfillment.site.middleware.AllowedHosts",
    # The last one, because it calls the middleware of pages below.
    "fulfillment.site.middleware.PageMiddleware",
]
# Requests of programs pass it by.
PAGE_MIDDLEWARE = [
    "fulfillment.site.middleware.PageCompression",
    "accounts.pages.middleware.Languages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "accounts.pages.middleware.UploadLimits",
    "fulfillment.site.middleware.ReadableForms",
    # Programs use no cookies, so other sites cannot make a browser send credentials.
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "accounts.pages.middleware.PageLimits",
    "fulfillment.site.middleware.BodyLimits",
    "accounts.pages.middleware.OperatorTwoFactor",
    "django.contrib.messages.middleware.MessageMiddleware",
    "accounts.pages.middleware.Confirmations",
    # Records the signed-in user in the audit trail.
    "pghistory.middleware.HistoryMiddleware",
]
APPEND_SLASH = False
# The service is at the root of its host.
FORCE_SCRIPT_NAME = ""
ROOT_URLCONF = "fulfillment.urls"
WSGI_APPLICATION = "fulfillment.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "accounts.pages.context.header_context",
            ],
        },
    },
]


DATABASE_URL = environment.text("DATABASE_URL")
DATABASE_POOLER = environment.choice("DATABASE_POOLER", "none", POOLERS)
DATABASES = {
    "default": connection_settings("DATABASE_URL", DATABASE_URL, pooler=DATABASE_POOLER)
    if DATABASE_URL
    else environment.refuse(
        "DATABASE_URL is missing; set it, such as postgresql://user:password@host:5432/name.", {}
    )
}
# Past the pooler, for the notifications of the worker and for `connect_past_the_pooler`.
DATABASE_DIRECT_URL = environment.text("DATABASE_DIRECT_URL")
DIRECT_DATABASE = (
    connection_settings("DATABASE_DIRECT_URL", DATABASE_DIRECT_URL)
    if DATABASE_DIRECT_URL
    else DATABASES["default"]
)
# The role of web and workers where it is not the owner of the tables: `prepare` grants it what it needs.
DATABASE_ROLE = environment.text("DATABASE_ROLE")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.authentication.TenantBackend"]
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # user names are unique within a tenant, and the backend above knows tenants
    # fulfillment.site.middleware.SecurityHeaders is a SecurityMiddleware and sets X_FRAME_OPTIONS
    *("security.W001", "security.W002"),
    *("security.W003", "admin.E408", "admin.E409", "admin.E410"),  # they are in PAGE_MIDDLEWARE
    # fulfillment.operations.deployment_checks says more of these: HSTS, the length of SECRET_KEY, ALLOWED_HOSTS
    *("security.W004", "security.W005", "security.W009", "security.W021", "security.W025"),
    "oauth2_provider.E003",  # http reply URLs: `reply_urls` of applications allows them on loopback only
]
PASSWORD_HASHERS = [
    "accounts.authentication.Argon2",
    "accounts.authentication.PBKDF2",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 8}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
CSRF_FAILURE_VIEW = "fulfillment.site.pages.csrf_failure"
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
# Operators without a second step are led to set one up, and open nothing before.
OPERATOR_TWO_FACTOR = environment.choice("OPERATOR_TWO_FACTOR", "optional", ("optional", "required"))
SIGN_UP_ENABLED = environment.flag("SIGN_UP_ENABLED", default=DEVELOPMENT)
DEFAULT_TENANT_DOMAIN = environment.domain("DEFAULT_TENANT_DOMAIN", "demo.example" if DEVELOPMENT else _host)

LANGUAGE_CODE = "en"
# The languages of pages and mails. A catalog of each but English is in `locale`.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]
# For pages and mails where neither the person nor the browser names one of these.
DEFAULT_LANGUAGE = environment.choice("DEFAULT_LANGUAGE", "en", dict(LANGUAGES))
LOCALE_PATHS = [BASE_DIR / "fulfillment" / "locale"]
FORMAT_MODULE_PATH = ["fulfillment.site.formats"]
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
# In development files are served from where they are; nothing is collected.
STATIC_ROOT = (
    None if DEVELOPMENT else environment.folder("STATIC_ROOT", BASE_DIR / "var" / "static", root=BASE_DIR)
)
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = environment.folder("MEDIA_ROOT", BASE_DIR / "var" / "media", root=BASE_DIR)
# Hot folders of providers lie below these alone.
PRODUCTION_FOLDERS = [
    BASE_DIR / name
    for name in environment.names("PRODUCTION_FOLDERS", (str(MEDIA_ROOT.parent / "production"),))
]
# What `make clients` built, offered for download.
CLIENT_DOWNLOADS = environment.folder("CLIENT_DOWNLOADS", BASE_DIR / "clients", root=BASE_DIR)
WHITENOISE_USE_FINDERS = DEVELOPMENT
WHITENOISE_MANIFEST_STRICT = False
FILE_STORAGE = environment.choice("FILE_STORAGE", "folder", ("folder", "s3"))
S3_BUCKET = environment.text("S3_BUCKET")


STORAGES = {
    "default": environment.storage_settings(FILE_STORAGE),
    # Both kinds by name, for `move_files`.
    "folder": environment.storage_settings("folder"),
    **({"s3": environment.storage_settings("s3")} if S3_BUCKET else {}),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEVELOPMENT
        else "fulfillment.core.files.storage.StaticFiles"
    },
}

EMAIL_BACKEND = environment.text(
    "EMAIL_BACKEND",
    "django.core.mail.backends.filebased.EmailBackend" if DEVELOPMENT else "accounts.mail.SmtpBackend",
)
EMAIL_FILE_PATH = environment.folder("FULFILLMENT_VAR", BASE_DIR / "var", root=BASE_DIR) / "log" / "mail"
EMAIL_HOST = environment.text("EMAIL_HOST", "localhost")
EMAIL_USE_TLS = environment.flag("EMAIL_USE_TLS")
EMAIL_USE_SSL = environment.flag("EMAIL_USE_SSL")
if EMAIL_USE_TLS and EMAIL_USE_SSL:
    environment.refuse(
        "EMAIL_USE_TLS and EMAIL_USE_SSL are both set; keep the one that the mail server expects.", None
    )
EMAIL_PORT = environment.integer("EMAIL_PORT", 465 if EMAIL_USE_SSL else 25, minimum=1, maximum=65535)
EMAIL_HOST_USER = environment.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = environment.text("EMAIL_HOST_PASSWORD")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environment.email("DEFAULT_FROM_EMAIL", f"no-reply@{_host}")

HTTPS = _public.scheme == "https"
BEHIND_TLS_PROXY = environment.flag("BEHIND_TLS_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS_PROXY else None
# Believed about the client's address and scheme; fulfillment.site.proxies removes what others say.
TRUSTED_PROXIES = environment.networks(
    "TRUSTED_PROXIES", ("127.0.0.0/8", "::1/128") if BEHIND_TLS_PROXY else ()
)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
# An hour can be waited out; a longer time, or other hosts, cannot be taken back from browsers.
SECURE_HSTS_SECONDS = environment.integer("HSTS_SECONDS", 3600, maximum=63_072_000) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and environment.flag("HSTS_INCLUDE_SUBDOMAINS")
SECURE_HSTS_PRELOAD = HTTPS and environment.flag("HSTS_PRELOAD")
SESSION_ENGINE = "accounts.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
DEVICE_COOKIE_NAME = "device"
if HTTPS:
    # A browser takes these names only with Secure, for this host alone and for every path.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"
    DEVICE_COOKIE_NAME = "__Host-device"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = int(timedelta(hours=12).total_seconds())
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
FILE_UPLOAD_MAX_MEMORY_SIZE = 1_048_576

IMPLICIT_FLOW_ENABLED = environment.flag("IMPLICIT_FLOW_ENABLED")
IMPLICIT_TOKEN_LIFETIME = timedelta(minutes=15)
REFRESH_TOKEN_MAXIMUM_AGE = timedelta(days=90)
OAUTH2_PROVIDER_APPLICATION_MODEL = "applications.Application"
OAUTH2_PROVIDER = {
    "OAUTH2_SERVER_CLASS": "applications.oauth.server.Server",
    "OAUTH2_VALIDATOR_CLASS": "applications.oauth.validator.Validator",
    "SCOPES_BACKEND_CLASS": "applications.oauth.server.PermissionScopes",
    "ACCESS_TOKEN_GENERATOR": "applications.oauth.tokens.generate_access_token",
    "REFRESH_TOKEN_GENERATOR": "applications.oauth.tokens.generate_refresh_token",
    "OIDC_ISS_ENDPOINT": PUBLIC_URL,
    "OIDC_ENABLED": False,
    "PKCE_REQUIRED": True,
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
    "REFRESH_TOKEN_EXPIRE_SECONDS": int(timedelta(days=30).total_seconds()),
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 60,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https", "http"],
    "REQUEST_APPROVAL_PROMPT": "force",
    "OAUTH2_GRANT_TYPES_SUPPORTED": ["authorization_code", "refresh_token", "client_credentials"],
    "OAUTH2_RESPONSE_TYPES_SUPPORTED": ["code"],
    "CLEAR_EXPIRED_TOKENS_BATCH_SIZE": 1000,
    "CLEAR_EXPIRED_TOKENS_BATCH_INTERVAL": 0.1,
    "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
    "COMPLIANT_BCP_RFC9700_PKCE_REQUIRED": True,
    "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
    "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
    "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": not IMPLICIT_FLOW_ENABLED,
    "COMPLIANT_BCP_RFC9700_TOKEN_STORAGE": True,
    "COMPLIANT_BCP_RFC9700_REFRESH_TOKEN": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_SCHEME": True,
    "COMPLIANT_BCP_RFC9700_REDIRECT_URI_MATCHING": True,
}

SPECTACULAR_SETTINGS = spectacular_settings(public_url=PUBLIC_URL, api_root=API_ROOT)

# The audit trail: rows of <model>Event tables, written by triggers and closed to UPDATE and DELETE.
PGHISTORY_APPEND_ONLY = True
PGHISTORY_BASE_MODEL = "fulfillment.core.audit.events.Event"
PGHISTORY_MIDDLEWARE_METHODS = ("POST", "PUT", "PATCH", "DELETE")
PGHISTORY_DEFAULT_TRACKERS = (pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())

# /metrics is served to requests with this token, and to these networks.
METRICS_TOKEN = environment.secret("METRICS_TOKEN") if environment.is_set("METRICS_TOKEN") else ""
METRICS_NETWORKS = environment.networks("METRICS_NETWORKS")
METRICS_OPEN = bool(METRICS_TOKEN or METRICS_NETWORKS)
if METRICS_OPEN:
    configure_multiprocess_metrics()

# After this time in one status, an order of the demo store advances automatically; 0 for never.
DEMO_ADVANCE_SECONDS = environment.integer("DEMO_ADVANCE_SECONDS", 60 if DEVELOPMENT else 0, maximum=86_400)

# Web sites whose scripts may call the API; as a rule none.
API_ALLOWED_ORIGINS = environment.origins("API_ALLOWED_ORIGINS")

# Networks outside the public Internet that webhooks may go to, over http too; as a rule none.
WEBHOOK_ALLOWED_NETWORKS = environment.networks("WEBHOOK_ALLOWED_NETWORKS")

# Open requests of one worker to webhooks: of all applications, and of one. Each is an open file.
WEBHOOK_CONNECTIONS = environment.integer("WEBHOOK_CONNECTIONS", 200, minimum=8, maximum=10_000)
WEBHOOK_CONNECTIONS_PER_APPLICATION = 40

# Street tiles below the routes of a mailing, as https://tiles.example/{z}/{x}/{y}.png, and their credit. Without tiles
# the map has the outlines of states and counties.
EDDM_TILES_URL = environment.url(
    "EDDM_TILES_URL",
    schemes=("https",),
    expected="an address such as https://tiles.example/{z}/{x}/{y}.png",
)
EDDM_TILES_CREDIT = environment.text("EDDM_TILES_CREDIT", "")
EDDM_BUNDLE_PIECES = environment.integer("EDDM_BUNDLE_PIECES", 100)
if EDDM_BUNDLE_PIECES not in {50, 100}:
    environment.refuse(f"EDDM_BUNDLE_PIECES is {EDDM_BUNDLE_PIECES}; write 50 or 100.", None)
# What PS Form 3587 asks of the print house: its Customer Registration ID, and how it pays.
EDDM_CRID = environment.text("EDDM_CRID")
if EDDM_CRID and not (EDDM_CRID.isascii() and EDDM_CRID.isdigit() and len(EDDM_CRID) <= 15):
    environment.refuse(f"EDDM_CRID is {EDDM_CRID!r}; write up to 15 digits.", None)
EDDM_PAYMENT = environment.text("EDDM_PAYMENT")[:60]
EDDM_ROUTE_TYPES = environment.text("EDDM_ROUTE_TYPES", "CRH").upper()
if not set(EDDM_ROUTE_TYPES) <= set("CRHB"):
    environment.refuse(f"EDDM_ROUTE_TYPES is {EDDM_ROUTE_TYPES!r}; write letters of CRHB, such as CRH.", None)

# A text over every proof, up to 24 letters; `none` for no text. Print files never have it.
PROOF_WATERMARK = environment.text("PROOF_WATERMARK", "PROOF")
PROOF_WATERMARK = "" if PROOF_WATERMARK.lower() == "none" else PROOF_WATERMARK
if len(PROOF_WATERMARK) > 24 or not PROOF_WATERMARK.isprintable():
    environment.refuse(f"PROOF_WATERMARK is {PROOF_WATERMARK!r}; write up to 24 letters, or none.", None)

LOG_LEVEL = environment.choice("LOG_LEVEL", "WARNING", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOG_FORMAT = environment.choice("LOG_FORMAT", "plain" if DEVELOPMENT else "json", ("plain", "json"))
ACCESS_LOG = environment.flag("ACCESS_LOG")
SENTRY_DSN = environment.text("SENTRY_DSN")
if SENTRY_DSN and not re.fullmatch(r"https?://[\w:*-]+@[^\s/@]+(/[\w.-]+)*/\d+", SENTRY_DSN):
    environment.refuse(
        f"SENTRY_DSN is {environment.hide_password(SENTRY_DSN)!r}; write an address such as "
        "https://key@sentry.example/7.",
        None,
    )
OTLP_ENDPOINT = environment.url(
    "OTEL_EXPORTER_OTLP_ENDPOINT", schemes=HTTP, expected="an address such as http://collector.example:4318"
)
LOGGING = logging_settings(LOG_LEVEL, LOG_FORMAT)

environment.end_collection()
