from production.jobs.models import Attempt, Job, JobHistory, ProviderReport
from production.providers.models import Provider
from production.routing.models import RoutingChoice, RoutingRule, RoutingTally

__all__ = [
    "Attempt",
    "Job",
    "JobHistory",
    "Provider",
    "ProviderReport",
    "RoutingChoice",
    "RoutingRule",
    "RoutingTally",
]
