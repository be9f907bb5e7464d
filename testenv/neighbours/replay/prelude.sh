# What every replay may use: iptables of the variant that it replays, restore (rules are
# added to what is there) and whole (everything is replaced).
#
# The environment has the node: PRIVATE and PODLINK are its links, PODS and CLUSTER its
# and all pod networks, NETWORK the nodes' and EXTERNALNET the external network, TUNNEL
# the neighbour's own link.
set -eu
WORKLOADS='veth-+'

iptables() { "iptables-$IPTABLES" -w "$@"; }
iptables_save() { "iptables-$IPTABLES-save"; }
restore() { "iptables-$IPTABLES-restore" -w --noflush; }
whole() { "iptables-$IPTABLES-restore" -w; }
