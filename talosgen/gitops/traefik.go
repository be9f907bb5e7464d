package gitops

import "homeward/netplan"

const (
	IngressNamespace = "ingress"
	IngressService   = "traefik"
	// controllerClass is the name by which Traefik looks for its IngressClass.
	controllerClass = "traefik.io/ingress-controller"
	exampleName     = "app"
	exampleHost     = "app.example.edu"
	networkingAPI   = "networking.k8s.io/v1"
	// annotationAddresses pins a Service to addresses; MetalLB refuses a Service
	// that has it and loadBalancerIP as well.
	annotationAddresses = "metallb.io/loadBalancerIPs"
)

type serviceSpec struct {
	Type                  string            `yaml:"type"`
	LoadBalancerIP        string            `yaml:"loadBalancerIP,omitempty"`
	ExternalTrafficPolicy string            `yaml:"externalTrafficPolicy,omitempty"`
	Selector              map[string]string `yaml:"selector"`
	Ports                 []servicePort     `yaml:"ports"`
}

type servicePort struct {
	Name       string `yaml:"name"`
	Port       int    `yaml:"port"`
	TargetPort string `yaml:"targetPort"`
}

type classSpec struct {
	Controller string `yaml:"controller"`
}

type ingressSpec struct {
	IngressClassName string        `yaml:"ingressClassName"`
	Rules            []ingressRule `yaml:"rules"`
}

type ingressRule struct {
	Host string `yaml:"host"`
	HTTP struct {
		Paths []ingressPath `yaml:"paths"`
	} `yaml:"http"`
}

type ingressPath struct {
	Path     string `yaml:"path"`
	PathType string `yaml:"pathType"`
	Backend  struct {
		Service struct {
			Name string `yaml:"name"`
			Port struct {
				Number int `yaml:"number"`
			} `yaml:"port"`
		} `yaml:"service"`
	} `yaml:"backend"`
}

// traefikHead says what these objects expect of the controller itself, which is
// installed by other means.
const traefikHead = `# The Service expects Traefik's pods in namespace ingress with the label
# app.kubernetes.io/name: traefik and container ports named http and https. Traefik's
# Helm chart names them web and websecure, and makes a Service and an IngressClass of
# its own: give it service.enabled=false and ingressClass.enabled=false, and name its
# ports. Namespace app and Ingress app are an example: leave them out or change them.
`

// Traefik renders the LoadBalancer Service in front of Traefik, its IngressClass
// and an example Ingress, after the Namespaces that the objects live in, so that
// one `kubectl apply` takes them all.
//
// With ingress.address the Service is pinned to it, by loadBalancerIP or by
// MetalLB's annotation; without, or without a pool, MetalLB picks. On OpenStack it is
// pinned to the ingress's fixed address.
func Traefik(p *netplan.Plan) ([]byte, error) {
	if err := p.Complete(); err != nil {
		return nil, err
	}
	class := object{APIVersion: networkingAPI, Kind: "IngressClass",
		Metadata: metadata{Name: p.Ingress.Class}, Spec: classSpec{Controller: controllerClass}}
	text, err := encode(
		namespace(IngressNamespace, nil),
		namespace(exampleName, nil),
		controllerService(p.Ingress),
		class,
		exampleIngress(p.Ingress.Class),
	)
	return append([]byte(traefikHead), text...), err
}

func controllerService(in netplan.Ingress) object {
	meta := metadata{Name: IngressService, Namespace: IngressNamespace}
	spec := serviceSpec{
		Type:                  "LoadBalancer",
		ExternalTrafficPolicy: in.ExternalTrafficPolicy,
		Selector:              map[string]string{"app.kubernetes.io/name": IngressService},
		Ports: []servicePort{
			{Name: "http", Port: 80, TargetPort: "http"},
			{Name: "https", Port: 443, TargetPort: "https"},
		},
	}
	switch {
	case !in.Address.IsValid():
	case in.Pin == netplan.PinAnnotation:
		meta.Annotations = map[string]string{annotationAddresses: in.Address.String()}
	default:
		spec.LoadBalancerIP = in.Address.String()
	}
	return object{APIVersion: "v1", Kind: "Service", Metadata: meta, Spec: spec}
}

func exampleIngress(class string) object {
	path := ingressPath{Path: "/", PathType: "Prefix"}
	path.Backend.Service.Name = exampleName
	path.Backend.Service.Port.Number = 80
	rule := ingressRule{Host: exampleHost}
	rule.HTTP.Paths = []ingressPath{path}
	return object{APIVersion: networkingAPI, Kind: "Ingress",
		Metadata: metadata{Name: exampleName, Namespace: exampleName},
		Spec:     ingressSpec{IngressClassName: class, Rules: []ingressRule{rule}}}
}
