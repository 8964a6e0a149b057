"""Language models: one seam (base), what each provider needs (profiles), and the calls with their failures (chat)."""
