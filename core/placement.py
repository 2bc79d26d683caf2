"""Where services and clients should run, by the number of cores. docs/machine.md says what each pinning costs."""

from core.messages import Message, message

FEWEST_TO_PIN = 4
CLIENTS_SHARE = 4  # one core in so many, for the native client


def placement(cores: int) -> Message:
    """What to do with --pin on so many *cores*, so that the service may still use several."""
    if cores < FEWEST_TO_PIN:
        return message(
            "with fewer than {fewest} cores leave it to the kernel: on one core a service shows nothing of threads",
            fewest=FEWEST_TO_PIN,
        )
    first = cores - cores // CLIENTS_SHARE
    pins = f"--pin services=0-{first - 1} clients={f'{first}-{cores - 1}'.removesuffix(f'-{first}')}"
    return message("keep clients off the services' cores: {pins} --client-runtime native", pins=pins)
