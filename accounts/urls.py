from django.contrib.auth.views import LogoutView
from django.urls import path

from accounts.pages.emails import confirm_email, confirm_own_address
from accounts.pages.passwords import (
    PasswordChangeView,
    PasswordResetCompleteView,
    PasswordResetConfirmView,
    PasswordResetDoneView,
    PasswordResetView,
)
from accounts.pages.second_step import show_second_step
from accounts.pages.sign_in import SignInView, SignUpView

# Not in a namespace: Django's own views look some of these names up.
urlpatterns = [
    path("login/", SignInView.as_view(), name="login"),
    path("second-step/", show_second_step, name="second_step"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("signup/", SignUpView.as_view(), name="signup"),
    path("password-reset/", PasswordResetView.as_view(), name="password_reset"),
    path("password-reset/sent/", PasswordResetDoneView.as_view(), name="password_reset_done"),
    path("password-reset/saved/", PasswordResetCompleteView.as_view(), name="password_reset_complete"),
    path(
        "password-reset/<uidb64>/<token>/", PasswordResetConfirmView.as_view(), name="password_reset_confirm"
    ),
    path("email/<str:token>/", confirm_email, name="email_confirm"),
    path("email/confirm/<str:token>/", confirm_own_address, name="email_confirmation"),
    path("password-change/", PasswordChangeView.as_view(), name="password_change"),
]
