from django.contrib.auth.views import LogoutView
from django.urls import path

from accounts.pages.emails import (
    PasswordChangeView,
    PasswordResetCompleteView,
    PasswordResetConfirmView,
    PasswordResetDoneView,
    PasswordResetView,
    confirm_email,
    confirm_own_address,
)
from accounts.pages.sign_in import SignInView, SignUpView, show_second_step
from fulfillment.core.http.dangerous import harmless

# Without a namespace, because Django's own views reverse some of these names.
urlpatterns = [
    path("accounts/login/", SignInView.as_view(), name="login"),
    path("accounts/second-step/", show_second_step, name="second_step"),
    path("accounts/logout/", harmless(LogoutView.as_view()), name="logout"),
    path("accounts/signup/", SignUpView.as_view(), name="signup"),
    path("accounts/password-reset/", PasswordResetView.as_view(), name="password_reset"),
    path("accounts/password-reset/sent/", PasswordResetDoneView.as_view(), name="password_reset_done"),
    path(
        "accounts/password-reset/saved/", PasswordResetCompleteView.as_view(), name="password_reset_complete"
    ),
    path(
        "accounts/password-reset/<uidb64>/<secret:token>/",
        PasswordResetConfirmView.as_view(),
        name="password_reset_confirm",
    ),
    path("accounts/email/<secret:token>/", confirm_email, name="email_confirm"),
    path("accounts/email/confirm/<secret:token>/", confirm_own_address, name="email_confirmation"),
    path("accounts/password-change/", PasswordChangeView.as_view(), name="password_change"),
]
