"""What an application accepts and shows, and the examples of both in the API reference."""

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from applications.registration.services.applications import MAX_REPLY_URLS
from fulfillment.core.api.serializers import (
    Meta,
    StrictFlag,
    StrictList,
    StrictSerializer,
    StrictText,
    Timestamp,
)

APPLICATION_ID = "0b5c3a5e-6d6e-4d5a-8f4f-5c9f2f1f7a11"
KEY = {
    "ID": "5f0c3c52-7a0b-4b43-9a55-0a2f4b7f5f10",
    "StartDate": "2026-03-01T00:00:00Z",
    "EndDate": "2027-03-01T00:00:00Z",
    "Value": "••••••••x9Qa",
    "_meta": {"Messages": []},
}

KEY_RESPONSE = OpenApiExample("Key", value=KEY, response_only=True)

APPLICATION = OpenApiExample(
    "Application",
    value={
        "ID": APPLICATION_ID,
        "External_ID": "mail-studio-9f2c41d07be3",
        "Name": "Mail Studio",
        "Description": "Designs and orders direct mail",
        "ApplicationURL": "https://mailstudio.example",
        "Created": "2026-03-01T00:00:00Z",
        "Updated": "2026-03-01T00:00:00Z",
        "IsEnabled": True,
        "SupportUrl": "https://mailstudio.example/support",
        "SupportPhone": "+1 801 555 0100",
        "SupportEmail": "support@mailstudio.example",
        "ImplicitFlowAllowed": False,
        "Keys": [KEY],
        "ReplyUrls": ["https://mailstudio.example/oauth/callback"],
        "_meta": {"Messages": []},
    },
    response_only=True,
)

APPLICATION_REQUEST = OpenApiExample(
    "New application with one key",
    value={
        "Name": "Mail Studio",
        "ApplicationURL": "https://mailstudio.example",
        "SupportEmail": "support@mailstudio.example",
        "Keys": [{"EndDate": "2027-03-01T00:00:00Z"}],
        "ReplyUrls": ["https://mailstudio.example/oauth/callback"],
    },
    request_only=True,
)

APPLICATION_CHANGE = OpenApiExample(
    "Disable", value={"IsEnabled": False, "Description": "Closed for maintenance"}, request_only=True
)


class KeyRequestSerializer(StrictSerializer):
    """Without an ID, a new key is created. With an ID, the dates of that key change, or GenerateKey replaces it."""

    ignored_nulls = True

    ID = StrictText(required=False, help_text="An existing key; omit it to create a new one.")
    StartDate = Timestamp(required=False, help_text="Valid from (inclusive). Default for a new key: now.")
    EndDate = Timestamp(
        required=False, help_text="Valid until (exclusive). Default for a new key: one year later."
    )
    GenerateKey = StrictFlag(required=False, help_text="With an ID: replaces the key with a new one.")
    Value = serializers.CharField(read_only=True)


class KeySerializer(serializers.Serializer):
    ID = serializers.CharField()
    StartDate = Timestamp()
    EndDate = Timestamp()
    Value = serializers.CharField(
        help_text="The secret, in full for users who may write the application, else masked to its last 4 characters."
    )
    _meta = Meta()


class ApplicationRequestSerializer(StrictSerializer):
    Name = StrictText(max_length=255)
    Description = StrictText(multiline=True, required=False, allow_blank=True, max_length=4000)
    ApplicationURL = StrictText(required=False, allow_blank=True, max_length=2000)
    IsEnabled = StrictFlag(required=False)
    SupportUrl = StrictText(required=False, allow_blank=True, max_length=2000)
    SupportPhone = StrictText(required=False, allow_blank=True, max_length=50)
    SupportEmail = StrictText(required=False, allow_blank=True, max_length=254)
    ImplicitFlowAllowed = StrictFlag(required=False)
    Keys = KeyRequestSerializer(many=True, required=False, max_length=10)
    ReplyUrls = StrictList(
        child=StrictText(allow_blank=True, max_length=4000, trim_whitespace=False),
        required=False,
        max_length=MAX_REPLY_URLS,
    )
    IsTest = StrictFlag(
        required=False,
        help_text=(
            "Whether this is permanently a test application: nothing it orders is produced. Default: false."
        ),
    )
    ID = serializers.CharField(read_only=True)
    External_ID = serializers.CharField(read_only=True)
    Created = Timestamp(read_only=True)
    Updated = Timestamp(read_only=True)
    OwnerID = serializers.CharField(read_only=True)
    StoreIDs = serializers.ListField(child=serializers.CharField(), read_only=True)
    IconURL = serializers.CharField(read_only=True)
    Grants = serializers.ListField(child=serializers.CharField(), read_only=True)

    ignored_nulls = True


class ApplicationChangeSerializer(ApplicationRequestSerializer):
    """Only the members to change; null keeps the existing value."""

    Name = StrictText(max_length=255, required=False)
    IsTest = StrictFlag(required=False, help_text="The mode of the application; it never changes.")


class ApplicationSerializer(serializers.Serializer):
    ID = serializers.CharField(help_text="The internal id, the recommended form in paths.")
    External_ID = serializers.CharField(help_text="The OAuth client_id; never changes.")
    Name = serializers.CharField()
    Description = serializers.CharField()
    ApplicationURL = serializers.CharField()
    Created = Timestamp()
    Updated = Timestamp()
    IsEnabled = serializers.BooleanField()
    SupportUrl = serializers.CharField()
    SupportPhone = serializers.CharField()
    SupportEmail = serializers.CharField()
    ImplicitFlowAllowed = serializers.BooleanField()
    Keys = KeySerializer(many=True)
    ReplyUrls = serializers.ListField(child=serializers.CharField())
    _meta = Meta()
    IsTest = serializers.BooleanField(
        required=False, help_text="Whether it is a test application. When registered, and with verbose=true."
    )
    OwnerID = serializers.CharField(required=False, allow_null=True, help_text="Only with verbose=true.")
    StoreIDs = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Associated stores. Only with verbose=true."
    )
    IconURL = serializers.CharField(required=False, allow_null=True, help_text="Only with verbose=true.")
    Grants = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="What you may do with the application. Only with verbose=true.",
    )
