"""One settings module, driven by the environment. docs/operating/settings.md lists the variables.

Development mode (`FULFILLMENT_MODE=development`, set by `make run`) fills in what a first start needs;
without it a missing or weak secret stops the start.
"""

import os
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pghistory
import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.templatetags.static import static

from fulfillment.core import environment
from fulfillment.core.observability.multiprocess_metrics import configure_multiprocess_metrics

BASE_DIR = Path(__file__).resolve().parent.parent
HTTP = ("http", "https")

MODE = environment.choice("FULFILLMENT_MODE", "production", ("production", "development"))
DEVELOPMENT = MODE == "development"
DEBUG = False

SECRET_KEY, *SECRET_KEY_FALLBACKS = environment.secrets("SECRET_KEY")
PEPPERS = environment.secrets("FULFILLMENT_PEPPERS")
ENCRYPTION_KEYS = environment.secrets("FULFILLMENT_ENCRYPTION_KEYS")

# Every absolute address we print (issuer, links, proof URLs) starts with this, never with the Host header.
PUBLIC_URL = environment.text("PUBLIC_URL", "http://127.0.0.1:8000" if DEVELOPMENT else "").rstrip("/")
_public = environment.split_url(PUBLIC_URL)
if (
    _public is None
    or _public.scheme not in ({"https", "http"} if DEVELOPMENT else {"https"})
    or not _public.hostname
    or _public.netloc.rpartition("@")[1]
    or any((_public.path, _public.query, _public.fragment))
):
    raise ImproperlyConfigured(
        f"PUBLIC_URL is {environment.without_password(PUBLIC_URL)!r}; write the https address clients use, without "
        "a path, such as https://print.example."
    )
API_ROOT = "/api/v1"
API_URL = PUBLIC_URL + API_ROOT

ALLOWED_HOSTS = environment.hosts(
    "ALLOWED_HOSTS",
    ("localhost", "127.0.0.1", "[::1]", _public.hostname) if DEVELOPMENT else (_public.hostname,),
)
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

INSTALLED_APPS = [
    # Its own configuration would put its own site in the place of ours.
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
    # Around all that refuses: a script of another site reads why.
    "fulfillment.site.cross_origin.CrossOrigin",
    "fulfillment.site.repeated_reads.RepeatedReads",
    "fulfillment.site.busy.Lanes",
    # Before all that answers by itself, the redirect to https as well.
    "fulfillment.site.middleware.SecurityHeaders",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "applications.oauth.rate_limits.RateLimits",
    "fulfillment.site.middleware.RequestFilter",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "fulfillment.site.middleware.ApiHistory",
    "fulfillment.site.middleware.PageSessions",
    "fulfillment.site.middleware.Hosts",
    "fulfillment.site.middleware.PageCsrf",
    "fulfillment.site.middleware.PageAuthentication",
    "fulfillment.site.middleware.BodyLimits",
    "accounts.pages.middleware.OperatorTwoFactor",
    "fulfillment.site.middleware.PageMessages",
    "fulfillment.site.middleware.PageHistory",
]
APPEND_SLASH = False
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
                "accounts.pages.context.bar",
            ],
        },
    },
]


SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def _database(url: str) -> dict[str, object]:
    parts = environment.split_url(url)
    if parts is None or parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise ImproperlyConfigured(
            f"DATABASE_URL is {environment.without_password(url)!r}; write an address such as "
            "postgresql://user:password@host:5432/name."
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    _require_known(options)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.strip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or parts.hostname or "",
        "PORT": options.pop("port", None) or str(parts.port or ""),
        # One connection for each thread of a worker: a pool costs every request and bounds nothing more.
        "CONN_MAX_AGE": 1800,
        "OPTIONS": {
            # Where the database's machine vanishes without a word, the connection ends after 20 to 30 seconds.
            "keepalives_idle": "15",
            "keepalives_interval": "5",
            "keepalives_count": "3",
            "tcp_user_timeout": "20000",
            **options,
            "connect_timeout": 3,
            # Prepares what asks for it (fulfillment.core.db.prepared) and nothing by count; None would forbid both.
            "prepare_threshold": 1_000_000,
            "application_name": "fulfillment",
            "options": "-c statement_timeout=15000 -c lock_timeout=5000 "
            "-c idle_in_transaction_session_timeout=30000 -c jit=off",
        },
    }


def _require_known(options: dict[str, str]) -> None:
    """libpq would say so at the first connection only."""
    mode = options.get("sslmode", "prefer")
    if mode not in SSL_MODES:
        raise ImproperlyConfigured(
            f"DATABASE_URL has sslmode={mode!r}; write {', '.join(SSL_MODES[:-1])} or {SSL_MODES[-1]}."
        )
    known = {one.keyword.decode() for one in psycopg.pq.Conninfo.get_defaults()}
    if unknown := sorted(options.keys() - known):
        raise ImproperlyConfigured(
            f"DATABASE_URL has the option {unknown[0]!r}; write options of libpq, such as sslmode or sslrootcert."
        )


DATABASE_URL = environment.text("DATABASE_URL")
if not DATABASE_URL:
    raise ImproperlyConfigured(
        "DATABASE_URL is missing; set it, such as postgresql://user:password@host:5432/name."
    )
DATABASES = {"default": _database(DATABASE_URL)}
# The role of web and workers where it is not the owner of the tables: `prepare` grants it what it needs.
DATABASE_ROLE = environment.text("DATABASE_ROLE")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.authentication.TenantBackend"]
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # user names are unique within a tenant, and the backend above knows tenants
    "security.W003",  # fulfillment.site.middleware.PageCsrf is a CsrfViewMiddleware
    # fulfillment.operations.deployment_checks says more of these: HSTS, the length of SECRET_KEY, ALLOWED_HOSTS
    *("security.W004", "security.W005", "security.W009", "security.W021", "security.W025"),
    "oauth2_provider.E003",  # http reply URLs: `reply_urls` of applications allows them on loopback only
]
PASSWORD_HASHERS = [
    "accounts.hashers.Argon2",
    "accounts.hashers.PBKDF2",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("username", "first_name", "last_name", "email")},
    },
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
DEFAULT_TENANT_DOMAIN = environment.domain(
    "DEFAULT_TENANT_DOMAIN", "demo.example" if DEVELOPMENT else _public.hostname
)

LANGUAGE_CODE = "en-us"
FORMAT_MODULE_PATH = ["fulfillment.site.formats"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
# In development files are served from where they are; nothing is collected.
STATIC_ROOT = None if DEVELOPMENT else Path(environment.text("STATIC_ROOT", str(BASE_DIR / "var" / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = Path(environment.text("MEDIA_ROOT", str(BASE_DIR / "var" / "media")))
# Hot folders of providers lie below these alone.
PRODUCTION_FOLDERS = [
    Path(name) for name in environment.names("PRODUCTION_FOLDERS", (str(MEDIA_ROOT.parent / "production"),))
]
# What `make clients` built, offered for download.
CLIENT_PACKAGES = Path(environment.text("CLIENT_PACKAGES", str(BASE_DIR / "clients")))
WHITENOISE_USE_FINDERS = DEVELOPMENT
WHITENOISE_MANIFEST_STRICT = False
FILE_STORAGE = environment.choice("FILE_STORAGE", "folder", ("folder", "s3"))
S3_BUCKET = environment.text("S3_BUCKET")


def _file_storage(kind: str = "") -> dict[str, object]:
    if (kind or FILE_STORAGE) == "folder":
        return {
            "BACKEND": "fulfillment.core.files.storage.FolderStorage",
            "OPTIONS": {"allow_overwrite": True},
        }
    bucket = environment.text("S3_BUCKET")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]", bucket):
        raise ImproperlyConfigured(
            f"S3_BUCKET is {bucket!r}; write the name of the bucket that keeps files, or set FILE_STORAGE to folder."
        )
    region = environment.text("S3_REGION")
    if region and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}", region):
        raise ImproperlyConfigured(f"S3_REGION is {region!r}; write the name of a region, such as us-east-1.")
    from botocore.config import Config  # noqa: PLC0415 - loads slowly, and only S3 needs it

    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": environment.url(
                "S3_ENDPOINT_URL", schemes=HTTP, expected="an address such as https://s3.example"
            )
            or None,
            "region_name": region or None,
            "location": environment.text("S3_PREFIX"),
            "file_overwrite": True,
            # The default waits a minute and tries five times, longer than any request should.
            "client_config": Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 2}),
        },
    }


STORAGES = {
    "default": _file_storage(),
    # Both kinds by name, for `move_files`.
    "folder": _file_storage("folder"),
    **({"s3": _file_storage("s3")} if S3_BUCKET else {}),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEVELOPMENT
        else "fulfillment.site.static_files.StaticFiles"
    },
}

EMAIL_BACKEND = environment.text(
    "EMAIL_BACKEND",
    "django.core.mail.backends.console.EmailBackend"
    if DEVELOPMENT
    else "django.core.mail.backends.smtp.EmailBackend",
)
EMAIL_HOST = environment.text("EMAIL_HOST", "localhost")
EMAIL_PORT = environment.integer("EMAIL_PORT", 25, minimum=1, maximum=65535)
EMAIL_HOST_USER = environment.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = environment.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_TLS = environment.flag("EMAIL_USE_TLS")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environment.email("DEFAULT_FROM_EMAIL", f"no-reply@{_public.hostname}")

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
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
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
    "SCOPES_BACKEND_CLASS": "applications.oauth.scopes.PermissionScopes",
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

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["applications.oauth.token_authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api.declared_access.DeclaredAccess"],
    "DEFAULT_RENDERER_CLASSES": ["fulfillment.core.api.rendering.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["fulfillment.core.api.parsing.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "fulfillment.core.api.rendering.Negotiation",
    "DEFAULT_SCHEMA_CLASS": "fulfillment.core.api.schema.OperationSchema",
    "EXCEPTION_HANDLER": "fulfillment.core.api.errors.answer_exception",
    "DEFAULT_METADATA_CLASS": "fulfillment.core.api.rendering.MethodsOnly",
    "UNAUTHENTICATED_USER": None,
    # The Accept header alone says what is answered.
    "URL_FORMAT_OVERRIDE": None,
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%S.%fZ",
}

RATE_LIMIT_HEADERS = {
    "RateLimit-Policy": 'The limit that counts here, such as `"subscription";q=600;w=60`: 600 requests in 60 seconds.',
    "RateLimit": 'What is left of it, such as `"subscription";r=599;t=60`: 599 requests; all again in 60 seconds.',
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Store Fulfillment API",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "DESCRIPTION": (BASE_DIR / "fulfillment" / "core" / "api" / "description.md").read_text(encoding="utf-8"),
    "SERVERS": [{"url": PUBLIC_URL, "description": "This installation."}],
    "CONTACT": {"name": "The operator of this installation", "url": PUBLIC_URL},
    "LICENSE": {"name": "The terms of this installation", "url": PUBLIC_URL},
    "SCHEMA_PATH_PREFIX": API_ROOT,
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    # Bodies of PATCH have serializers of their own, without required members.
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_NAME_OVERRIDES": {
        "GrantEnum": "accounts.permissions.Grant",
        "AssociationStateEnum": "accounts.models.AssociationState",
        "DeliveryStateEnum": "applications.models.DeliveryState",
        "EventTypeEnum": "applications.webhooks.models.event_type.EventType",
    },
    "AUTHENTICATION_WHITELIST": [],
    "GET_LIB_DOC_EXCLUDES": "fulfillment.core.api.schema.classes_without_description",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "applications.oauth.schema.add_security_schemes",
        "applications.webhooks.api.event_schemas.add_events",
        "fulfillment.core.api.document.finish_document",
        "fulfillment.core.api.links.add_links",
    ],
    "TAGS": [
        {"name": name, "description": text}
        for name, text in (
            ("Stores", "The stores a caller may use, and who may do what on them."),
            ("Products", "What a store offers, with its prices, quantities and template fields."),
            ("Proofs", "How a product looks with data in it, and pictures for its image fields."),
            ("Orders", "Prices that bind, orders, what became of them, and their print files."),
            ("Delivery", "How many deliveries a postal code and its carrier routes have, for direct mail."),
            ("Applications", "Applications, their keys and icons."),
            ("Events and webhooks", "What happened, read at any time or sent as signed requests."),
            ("Webhook requests", "What the address of a webhook is sent."),
            ("Associations", "Asking for the use of a store, or for a place in an application."),
            ("Users", "Accounts and their roles."),
        )
    ],
    "APPEND_COMPONENTS": {
        "headers": {
            name: {"description": text, "schema": {"type": "string"}}
            for name, text in RATE_LIMIT_HEADERS.items()
        },
    },
}

UNFOLD = {
    "SITE_TITLE": "Store Fulfillment",
    "SITE_HEADER": "Store Fulfillment",
    "SITE_SUBHEADER": "Operator console",
    "SITE_ICON": lambda request: static("brand/mark.svg"),
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("brand/favicon.svg")}
    ],
    "STYLES": [
        lambda request: static("console/theme.css"),
        lambda request: static("console/console.css"),
        lambda request: static("brand/preflight.css"),
    ],
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_HISTORY": True,
    # The colour scheme is static/console/theme.css.
    "SIDEBAR": {"show_search": True, "navigation": "fulfillment.site.navigation.navigation_for"},
}

# The audit trail: rows of <model>Event tables, written by triggers and closed to UPDATE and DELETE.
PGHISTORY_APPEND_ONLY = True
PGHISTORY_BASE_MODEL = "fulfillment.core.audit.events.Event"
PGHISTORY_MIDDLEWARE_METHODS = ("POST", "PUT", "PATCH", "DELETE")
PGHISTORY_DEFAULT_TRACKERS = (pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())

# A minute's requests: of one subscription (each may have a value of its own), of one address without valid
# credentials, and refused ones of one address at /oauth/token.
REQUESTS_PER_MINUTE = 600
# Proofs, prices, pictures and demo orders of one person in the playground of the portal.
PLAYGROUND_REQUESTS_PER_MINUTE = 120
ADDRESS_REQUESTS_PER_MINUTE = environment.integer("ADDRESS_REQUESTS_PER_MINUTE", 600, minimum=1)
TOKEN_FAILURES_PER_MINUTE = environment.integer("TOKEN_FAILURES_PER_MINUTE", 30, minimum=1)
# Each of them has a minute's requests of its own.
APPLICATIONS_PER_USER = environment.integer("APPLICATIONS_PER_USER", 100, minimum=1)
# In a quarter of an hour.
SIGN_IN_TRIES_PER_ACCOUNT = environment.integer("SIGN_IN_TRIES_PER_ACCOUNT", 10, minimum=1)
SIGN_IN_TRIES_PER_ADDRESS = environment.integer("SIGN_IN_TRIES_PER_ADDRESS", 50, minimum=1)
SECOND_STEPS_PER_ACCOUNT = 5
SIGN_UPS_PER_ADDRESS = 20
# In a day: accounts that one person makes over the API, and links that one unconfirmed address is sent.
ACCOUNTS_PER_USER = environment.integer("ACCOUNTS_PER_USER", 20, minimum=1)
CONFIRMATIONS_PER_EMAIL = 5
RESETS_PER_EMAIL, RESETS_PER_ADDRESS = 3, 20

# Expensive work in each web process (fulfillment.core.lanes). Its threads, as the web server's --blocking-threads
# has them: three quarters of them at most are held by it.
WEB_THREADS = environment.integer("WEB_THREADS", 8, minimum=1, maximum=256)
# Each in each process; one caller gets one less.
RENDERINGS_AT_ONCE = environment.integer(
    "RENDERINGS_AT_ONCE", (os.cpu_count() or 1) + 1, minimum=1, maximum=256
)
# Of strangers at the start page, all together, and of one address in a minute.
LIVE_PROOFS_AT_ONCE = 1
LIVE_PROOFS_PER_MINUTE = environment.integer("LIVE_PROOFS_PER_MINUTE", 120, minimum=1)
ORDERS_AT_ONCE = environment.integer("ORDERS_AT_ONCE", 4, minimum=1, maximum=256)
LARGE_ORDERS_AT_ONCE = environment.integer("LARGE_ORDERS_AT_ONCE", 2, minimum=1, maximum=256)
PASSWORDS_AT_ONCE = environment.integer("PASSWORDS_AT_ONCE", 2, minimum=1, maximum=256)
PICTURES_AT_ONCE = environment.integer("PICTURES_AT_ONCE", 2, minimum=1, maximum=256)
FILES_AT_ONCE = environment.integer("FILES_AT_ONCE", 2, minimum=1, maximum=256)
SELECTIONS_AT_ONCE = environment.integer("SELECTIONS_AT_ONCE", 2, minimum=1, maximum=256)
# For a place, before the request is refused.
LANE_WAIT_SECONDS = environment.integer("LANE_WAIT_SECONDS", 5, minimum=1, maximum=60)

# Calls are counted in memory and written this often; a killed process loses at most so much. 0 for never.
USAGE_FLUSH_SECONDS = 5

# Either opens /metrics.
METRICS_TOKEN = environment.secret("METRICS_TOKEN") if environment.is_set("METRICS_TOKEN") else ""
METRICS_NETWORKS = environment.networks("METRICS_NETWORKS")
METRICS_OPEN = bool(METRICS_TOKEN or METRICS_NETWORKS)
if METRICS_OPEN:
    configure_multiprocess_metrics()

# How long an order of the demo store stays as it is before it moves on by itself; 0 for never.
DEMO_ADVANCE_SECONDS = environment.integer("DEMO_ADVANCE_SECONDS", 60 if DEVELOPMENT else 0, maximum=86_400)

# Web sites whose scripts may call the API; as a rule none.
API_ALLOWED_ORIGINS = environment.origins("API_ALLOWED_ORIGINS")

# Networks outside the public Internet that webhooks may go to, over http too; as a rule none.
WEBHOOK_ALLOWED_NETWORKS = environment.networks("WEBHOOK_ALLOWED_NETWORKS")

# Requests of one worker under way to webhooks, of all and of one application; each is an open file.
WEBHOOK_CONNECTIONS = environment.integer("WEBHOOK_CONNECTIONS", 200, minimum=8, maximum=10_000)
WEBHOOK_CONNECTIONS_PER_APPLICATION = environment.integer(
    "WEBHOOK_CONNECTIONS_PER_APPLICATION", 40, minimum=1, maximum=10_000
)

# Street tiles below the routes of a mailing, as https://tiles.example/{z}/{x}/{y}.png, and whom they come from. Without
# them the map has the outlines of states and counties.
EDDM_TILES_URL = environment.url(
    "EDDM_TILES_URL",
    schemes=("https",),
    expected="an address such as https://tiles.example/{z}/{x}/{y}.png",
)
EDDM_TILES_CREDIT = environment.text("EDDM_TILES_CREDIT", "")
EDDM_ROUTE_TYPES = environment.text("EDDM_ROUTE_TYPES", "CRH").upper()
if not set(EDDM_ROUTE_TYPES) <= set("CRHB"):
    raise ImproperlyConfigured(
        f"EDDM_ROUTE_TYPES is {EDDM_ROUTE_TYPES!r}; write letters of CRHB, such as CRH."
    )

# Up to 24 letters laid over every proof; `none` leaves them off. What is printed never carries them.
PROOF_MARK = environment.text("PROOF_MARK", "PROOF")
PROOF_MARK = "" if PROOF_MARK.lower() == "none" else PROOF_MARK
if len(PROOF_MARK) > 24 or not PROOF_MARK.isprintable():
    raise ImproperlyConfigured(f"PROOF_MARK is {PROOF_MARK!r}; write up to 24 letters, or none.")
# Longer than the addresses of a proof are good, which is 31 days at most, and the day between two touches.
PROOF_DAYS_SHORTEST = 33
PROOF_DAYS_KEPT = environment.integer("PROOF_DAYS_KEPT", 45, minimum=PROOF_DAYS_SHORTEST, maximum=3650)
# How long an order at rest keeps its address; 0 for ever.
ADDRESS_DAYS_KEPT = environment.integer("ADDRESS_DAYS_KEPT", 0, maximum=36500)
# How long an uploaded picture is kept that was never ordered, from its last use in a proof.
ASSET_DAYS_KEPT = environment.integer("ASSET_DAYS_KEPT", 90, minimum=PROOF_DAYS_SHORTEST, maximum=3650)
# How long exchanges with print providers are kept, from when they ended.
EXCHANGE_DAYS_KEPT = environment.integer("EXCHANGE_DAYS_KEPT", 180, minimum=1, maximum=3650)
# How long test orders and test quotes are kept, from when they were made.
TEST_DAYS_KEPT = environment.integer("TEST_DAYS_KEPT", 30, minimum=1, maximum=3650)
# How long the files of imports are kept: uploads, and lists of problems.
# The log of an application's calls in the portal; 0 keeps none.
REQUEST_LOG_DAYS = environment.integer("REQUEST_LOG_DAYS", 7, maximum=90)
IMPORT_DAYS_KEPT = environment.integer("IMPORT_DAYS_KEPT", 90, minimum=1, maximum=3650)

LOG_LEVEL = environment.choice("LOG_LEVEL", "WARNING", ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOG_FORMAT = environment.choice("LOG_FORMAT", "plain" if DEVELOPMENT else "json", ("plain", "json"))
ACCESS_LOG = environment.flag("ACCESS_LOG")
SENTRY_DSN = environment.text("SENTRY_DSN")
if SENTRY_DSN and not re.fullmatch(r"https?://[\w:*-]+@[^\s/@]+(/[\w.-]+)*/\d+", SENTRY_DSN):
    raise ImproperlyConfigured(
        f"SENTRY_DSN is {environment.without_password(SENTRY_DSN)!r}; write an address such as "
        "https://key@sentry.example/7."
    )
OTLP_ENDPOINT = environment.url(
    "OTEL_EXPORTER_OTLP_ENDPOINT", schemes=HTTP, expected="an address such as http://collector.example:4318"
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "secrets": {"()": "fulfillment.core.observability.logs.SecretFilter"},
        "refusals": {"()": "fulfillment.core.observability.logs.RefusalFilter"},
    },
    "formatters": {
        "plain": {
            "()": "fulfillment.core.observability.logs.PlainFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
        "json": {"()": "fulfillment.core.observability.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["secrets", "refusals"],
        }
    },
    "loggers": {
        # Refusals are the clients' business; the access log has them.
        "django.request": {"level": "ERROR"},
        "fulfillment.core.api.access": {"level": "INFO"},
        # At the lowest level it writes refresh tokens and codes into its messages.
        "oauthlib": {"level": "INFO"},
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
