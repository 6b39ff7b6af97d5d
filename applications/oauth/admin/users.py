"""The admin of users, extended by their tokens."""

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
        """Ends all tokens of a deactivated user; otherwise stolen ones would work again after reactivation."""
        super().save_model(request, instance, form, change)
        if change and not instance.is_active:
            end_everything_of_user(user=instance)
