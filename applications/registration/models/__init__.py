from applications.registration.models.application import Application
from applications.registration.models.icon import ApplicationIcon
from applications.registration.models.key import ApplicationKey
from applications.registration.models.logged_request import LoggedRequest
from applications.registration.models.milestone import Milestone
from applications.registration.models.owner_invitation import InvitationState, OwnerInvitation
from applications.registration.models.usage import DailyUsage

__all__ = [
    "Application",
    "ApplicationIcon",
    "ApplicationKey",
    "DailyUsage",
    "InvitationState",
    "LoggedRequest",
    "Milestone",
    "OwnerInvitation",
]
