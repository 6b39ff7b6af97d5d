"""Rounds of parallel requests for one thing that only one of them may get."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import requests

from tests.benchmarks.servers import running
from tests.benchmarks.soak.scene import Caller, Crowd, form, fresh_world, new_party

PARALLEL = 20
MARK = "exactly one winner in each round, 0 x 5xx"

Round = Callable[[], requests.Response]


@dataclass(frozen=True)
class Race:
    """`begin` makes what a round is about and returns the request; `is_won` says whether an answer is a winner's;
    `leaves_one` looks at the database afterwards."""

    begin: Callable[[], Round]
    is_won: Callable[[requests.Response], bool]
    lost: frozenset[int]
    leaves_one: Callable[[], bool]


def measure(count: int = 200, *, processes: int = 2) -> Iterator[str]:
    world, party, crowd = fresh_world(), new_party(), Crowd(PARALLEL)
    with running("ours", workers=processes, threads=PARALLEL // 2) as server, crowd.pool:
        for name, race in _races(world, party, server.url).items():
            answers: Counter[int] = Counter()
            bad = sum(not _run(race, crowd, answers) for _ in range(count))
            broken = sum(number for status, number in answers.items() if status >= 500)
            holds = "" if not bad and not broken else "FAILED: "
            yield (
                f"{holds}{name}: {count} rounds x {PARALLEL}, {count - bad} with exactly one winner, "
                f"{broken} x 5xx, answers {dict(sorted(answers.items()))}"
            )


def _run(race: Race, crowd: Crowd, answers: Counter[int]) -> bool:
    responses = crowd.at_once(race.begin())
    statuses = [response.status_code for response in responses]
    answers.update(statuses)
    won = [response for response in responses if race.is_won(response)]
    others = {response.status_code for response in responses if not race.is_won(response)}
    return len(won) == 1 and others <= race.lost and race.leaves_one()


def _races(world: Any, party: Any, url: str) -> dict[str, Race]:
    return {
        "refresh": _refresh(party, url),
        "code redemption": _code(party, url),
        "key regenerate": _key(world, url),
        "association approve": _approve(world, url),
        "idempotent order": _order(world, url),
    }


def _refresh(party: Any, url: str) -> Race:
    from oauth2_provider.models import AccessToken, RefreshToken

    from tests.factories.accounts import UserFactory

    user = UserFactory()

    def begin() -> Round:
        AccessToken.objects.filter(user=user).delete()
        RefreshToken.objects.filter(user=user).delete()
        token = party.sign_in(user)["refresh_token"]
        return lambda: form(url, party, grant_type="refresh_token", refresh_token=token)

    def leaves_one() -> bool:
        alive = RefreshToken.objects.filter(user=user, revoked__isnull=True).count()
        return alive == AccessToken.objects.filter(user=user).count() == 1

    return Race(begin, _is_200, frozenset({400}), leaves_one)


def _code(party: Any, url: str) -> Race:
    from oauth2_provider.models import Grant, RefreshToken

    from tests.factories.accounts import UserFactory
    from tests.support.accounts.oauth_flows import VERIFIER

    user = UserFactory()

    def begin() -> Round:
        RefreshToken.objects.filter(user=user).delete()
        code = party.code_for(user)
        fields = {"redirect_uri": party.application.reply_urls[0], "code_verifier": VERIFIER}
        return lambda: form(url, party, grant_type="authorization_code", code=code, **fields)

    def leaves_one() -> bool:
        return RefreshToken.objects.filter(user=user).count() == 1 and not Grant.objects.exists()

    return Race(begin, _is_200, frozenset({400}), leaves_one)


def _key(world: Any, url: str) -> Race:
    application = world.application
    owner = Caller(url, world.as_user(world.user))

    def begin() -> Round:
        key = application.keys.get()
        return lambda: owner.call("PATCH", f"/application/{application.pk}/key/{key.pk}/regenerate")

    return Race(begin, _is_200, frozenset({404}), lambda: application.keys.count() == 1)


def _approve(world: Any, url: str) -> Race:
    from accounts.models import AssociationRequest, Role

    grants = ["Store.Self.Read", "Order.Self.Read"]
    operator = Caller(url, world.as_operator())

    def begin() -> Round:
        Role.objects.filter(store=world.unassociated).delete()
        association_request = AssociationRequest.objects.create(
            application=world.application, store=world.unassociated, requested_by=world.user, grants=grants
        )
        return lambda: operator.call(
            "POST", f"/association/{association_request.pk}/approve", {"Note": "Welcome"}
        )

    def leaves_one() -> bool:
        return Role.objects.filter(store=world.unassociated).count() == len(grants)

    return Race(begin, _is_200, frozenset({409}), leaves_one)


def _order(world: Any, url: str) -> Race:
    from applications.webhooks.models import Event
    from stores.orders.models import Order
    from tests.factories.orders import order_body

    buyer = Caller(url, world.as_application())
    rounds = 0

    def begin() -> Round:
        nonlocal rounds
        rounds += 1
        key = {"Idempotency-Key": str(uuid4())}
        return lambda: buyer.call("POST", "/store/associated/order", order_body(), **key)

    def is_won(response: requests.Response) -> bool:
        return response.status_code == 201 and "Idempotent-Replayed" not in response.headers

    def leaves_one() -> bool:
        return Order.objects.count() == rounds == Event.objects.filter(type="order.received").count()

    # The others are given the winner's answer again, or a 409 while it is in progress.
    return Race(begin, is_won, frozenset({201, 409}), leaves_one)


def _is_200(response: requests.Response) -> bool:
    return response.status_code == 200
