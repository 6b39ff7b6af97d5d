"""People, with what only this side knows of them: the tokens they gave out."""

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from accounts.admin import UserAdmin
from accounts.models import User
from applications.oauth.services.authorizations import end_everything_of_user

admin.site.unregister(User)


@admin.register(User)
class UserWithTokensAdmin(UserAdmin):
    def save_model(self, request: HttpRequest, instance: User, form: forms.ModelForm, change: bool) -> None:
        """What an inactive person gave out ends: else a thief's tokens would live again with the account."""
        super().save_model(request, instance, form, change)
        if change and not instance.is_active:
            end_everything_of_user(user=instance)
