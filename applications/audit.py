ERASABLE = {
    "applications.ApplicationEvent": ("support_phone", "support_email"),
    "applications.OwnerInvitationEvent": ("email",),
}
