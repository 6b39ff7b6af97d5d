"""Liveness and readiness probes."""

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from fulfillment.core.api.parts import failures_of_parts, part_names


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is checked."""
    return JsonResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answers 503 with the reason if a part is not ready; `failures_of_parts` has them.

    A web process can serve without a worker, and read without the storage: load balancers name
    the parts that count, as in `?only=database,migrations`, or use `?worker=0`.
    """
    only, ignored = request.GET.get("only", ""), {"worker"} if request.GET.get("worker") == "0" else set()
    if only and (unknown := set(only.split(",")) - part_names()):
        # Else a slip of a load balancer would find every machine ready.
        reason = (
            f"only: {sorted(unknown)[0][:40]!r} is no part; write some of {', '.join(sorted(part_names()))}."
        )
        return JsonResponse({"status": "unavailable", "reason": reason}, status=400)
    checks = failures_of_parts()
    counted = set(only.split(",")) if only else checks.keys() - ignored
    failures = [checks[name] for name in checks if name in counted and checks[name]]
    # Without the database some parts cannot be looked at.
    if counted - checks.keys():
        failures.append(checks["database"])
    headers = {"Cache-Control": "no-store"}
    reported = {name: failure or "ok" for name, failure in checks.items()}
    if failures:
        body = {"status": "unavailable", "reason": failures[0], "checks": reported}
        return JsonResponse(body, status=503, headers={**headers, "Retry-After": "5"})
    return JsonResponse({"status": "ready", "checks": reported}, headers=headers)
