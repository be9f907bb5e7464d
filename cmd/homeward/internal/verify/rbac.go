package verify

import "strings"

// Account is the service account that RBAC makes, in kube-system.
const Account = "homeward-verify"

// RBAC is the manifest of a service account that may read what [Gather] reads, and
// nothing else: no secret, and no write. Namespace is MetalLB's, a valid name.
//
// A list cannot be confined to names, so that lists are confined to a namespace where
// what they are about is in one.
func RBAC(namespace string) string {
	return strings.NewReplacer("ACCOUNT", Account, "METALLB", namespace).Replace(rbacText)
}

const rbacText = `# What homeward verify reads, and nothing else. It writes nothing and reads no secret.
# Apply it, then make a kubeconfig with a token of eight hours:
#
#   umask 077
#   kubectl config view --raw --minify --flatten -o jsonpath='{.clusters[0].cluster.certificate-authority-data}' | base64 -d > verify.crt
#   kubectl config --kubeconfig verify.kubeconfig set-cluster verify --certificate-authority verify.crt --embed-certs --server "$(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}')"
#   kubectl config --kubeconfig verify.kubeconfig set-credentials ACCOUNT --token "$(kubectl -n kube-system create token ACCOUNT --duration 8h)"
#   kubectl config --kubeconfig verify.kubeconfig set-context verify --cluster verify --user ACCOUNT
#   kubectl config --kubeconfig verify.kubeconfig use-context verify
#   homeward verify -f cluster.yaml --kubeconfig verify.kubeconfig
apiVersion: v1
kind: ServiceAccount
metadata:
  name: ACCOUNT
  namespace: kube-system
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: ACCOUNT
rules:
  # Names and addresses of nodes; services of every namespace and their endpoints.
  - apiGroups: [""]
    resources: [nodes, services]
    verbs: [list]
  - apiGroups: [discovery.k8s.io]
    resources: [endpointslices]
    verbs: [list]
  # MetalLB's pools and announcements; those of other namespaces are told of too.
  - apiGroups: [metallb.io]
    resources: [ipaddresspools, l2advertisements, bgpadvertisements]
    verbs: [list]
  # The Pod Security labels of MetalLB's namespace.
  - apiGroups: [""]
    resources: [namespaces]
    resourceNames: [METALLB]
    verbs: [get]
  - nonResourceURLs: [/version]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: ACCOUNT
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ACCOUNT}
subjects:
  - {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ACCOUNT
  namespace: kube-system
rules:
  # The return-path pods.
  - apiGroups: [""]
    resources: [pods]
    verbs: [list]
  # What forwards services, and how.
  - apiGroups: [apps]
    resources: [daemonsets]
    resourceNames: [kube-proxy, cilium]
    verbs: [get]
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: [kube-proxy, cilium-config]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ACCOUNT
  namespace: kube-system
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ACCOUNT}
subjects:
  - {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: ACCOUNT
  namespace: METALLB
rules:
  # MetalLB's controller and speakers.
  - apiGroups: [""]
    resources: [pods]
    verbs: [list]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: ACCOUNT
  namespace: METALLB
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: ACCOUNT}
subjects:
  - {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
`
