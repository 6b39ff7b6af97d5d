ERASABLE = {
    "accounts.UserEvent": ("username", "first_name", "last_name", "email", "phone"),
    "accounts.AssociationRequestEvent": ("message", "note"),
}
