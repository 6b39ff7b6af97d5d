from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.names import LONGEST, PATTERN
from accounts.permissions import Grant
from fulfillment.core.api.serializers import Meta, StrictSerializer, StrictText


@extend_schema_field({"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": PATTERN})
class UsernameField(StrictText):
    """Not checked here: the service checks names together with all other fields."""


class UserRequestSerializer(StrictSerializer):
    Username = UsernameField(
        max_length=LONGEST,
        trim_whitespace=False,
        help_text="Unique in the tenant, in any case and width of its letters. Follows the PRECIS profile"
        " UsernameCaseMapped (RFC 8265) and is of one script; shown as it was sent.",
    )
    FirstName = StrictText(max_length=150)
    LastName = StrictText(max_length=150)
    Email = StrictText(max_length=254)
    Password = StrictText(max_length=1024, trim_whitespace=False, write_only=True)
    Phone = StrictText(max_length=50, required=False, allow_blank=True, allow_null=True)
    ID = serializers.CharField(read_only=True)
    UsernameWithDomain = serializers.CharField(read_only=True)
    IsOperatorUser = serializers.BooleanField(read_only=True)


class UserSerializer(serializers.Serializer):
    ID = serializers.CharField()
    Username = serializers.CharField()
    UsernameWithDomain = serializers.CharField()
    FirstName = serializers.CharField()
    LastName = serializers.CharField()
    Email = serializers.CharField()
    Phone = serializers.CharField(allow_blank=True)
    IsOperatorUser = serializers.BooleanField()
    _meta = Meta()


class RoleSerializer(serializers.Serializer):
    ID = serializers.IntegerField()
    ApplicationID = serializers.CharField(allow_null=True)
    StoreID = serializers.CharField(allow_null=True)
    UserID = serializers.CharField(allow_null=True)
    Grant = serializers.ChoiceField(choices=Grant.values)
    _meta = Meta()
