from applications.models.application import Application
from applications.models.event import Event
from applications.models.icon import ApplicationIcon
from applications.models.key import ApplicationKey
from applications.models.owner_invitation import InvitationState, OwnerInvitation
from applications.models.usage import DailyUsage
from applications.models.used_code import UsedCode

__all__ = [
    "Application",
    "ApplicationIcon",
    "ApplicationKey",
    "DailyUsage",
    "Event",
    "InvitationState",
    "OwnerInvitation",
    "UsedCode",
]
