"""Certificates of state transfers that expire: reported weeks before, as no node can join then, not even by IST."""

from __future__ import annotations

from services.discovery.judgement.judge import Judgement
from services.discovery.nodes import Node
from services.discovery.words import joined
from services.facts.transfer.certificates import SOON_S, days_of
from services.i18n import tr
from services.types import Health


def with_certificate(own: Judgement, node: Node) -> Judgement:
    """Return the judgement, with what is to be known of the certificate; one that is not read says nothing."""
    machine = node.machine
    if machine is None or machine.transfer is None or not node.ssh_fresh:
        return own
    ends = machine.transfer.ends
    if ends is None:
        return _told(own, tr("its state transfers use a certificate that is missing or invalid"))
    left_s = ends - node.at - (machine.clock_offset_s or 0.0)  # by its own clock it is refused
    if left_s >= SOON_S:
        return own
    if left_s <= 0:
        text = tr(
            "the certificate of its state transfers expired {time} ago: no node can join with it (encrypt-sst "
            "renews it)",
            time=days_of(-left_s),
        )
    else:
        text = tr(
            "the certificate of its state transfers expires in {time} (encrypt-sst renews it)", time=days_of(left_s)
        )
    return _told(own, text)


def _told(own: Judgement, text: str) -> Judgement:
    if Health.WARN.severity <= own.health.severity:
        return Judgement(own.state, own.health, joined(own.reason, text))
    return Judgement(own.state, Health.WARN, joined(own.reason, text))
