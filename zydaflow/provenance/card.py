"""placeholder"""
def render(found, recipe):
    return "<html></html>"
