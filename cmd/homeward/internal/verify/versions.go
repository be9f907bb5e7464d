package verify

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"homeward/netplan"
)

func versionChecks() []check {
	return []check{
		{"versions", "what runs has the plan's versions",
			"files are made for the versions that the plan names; an agent of another version than the tool may know other flags",
			versions},
		{"generated-files", "the generated files are of this plan",
			"what lies there is applied next: files of an older plan bring the old addresses back",
			generatedFiles},
	}
}

func versions(s *Snapshot, n *notes) {
	n.saw("this is homeward %s", s.Tool)
	s.serverVersion(n)
	if nodes, ok := need(n, s.Nodes); ok {
		kubelets, systems := map[string][]string{}, map[string][]string{}
		for _, node := range nodes {
			info := node.Status.NodeInfo
			kubelets[info.KubeletVersion] = append(kubelets[info.KubeletVersion], node.Name)
			systems[talosVersion(info.OSImage)] = append(systems[talosVersion(info.OSImage)], node.Name)
		}
		spread(n, "kubelet", kubelets, s.Plan.Kubernetes.Version, "kubernetes.version")
		spread(n, "Talos", systems, s.Plan.Talos.Version, "talos.version")
	}
	s.agentVersions(n)
}

func (s *Snapshot) serverVersion(n *notes) {
	v, ok := need(n, s.Version)
	if !ok {
		return
	}
	if want := s.Plan.Kubernetes.Version; want != "" && v.GitVersion != want {
		n.warn("the API server is %s, the plan has kubernetes.version %s", plain(v.GitVersion), want)
		n.remedy("bring the plan to what runs, or finish the upgrade", "")
		return
	}
	n.saw("the API server is %s", plain(v.GitVersion))
}

// spread says which nodes have which version, and where it is not the plan's.
func spread(n *notes, what string, by map[string][]string, want, field string) {
	for _, v := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[v])
		switch {
		case v == "":
			n.saw("%s: not told by %s", what, named(by[v]))
		case want == "" || v == want:
			n.saw("%s %s on %s", what, plain(v), plural(len(by[v]), "node"))
		default:
			n.warn("%s %s on %s, the plan has %s %s", what, plain(v), named(by[v]), field, want)
			n.remedy("bring the plan to what runs, or finish the upgrade", "")
		}
	}
}

var talosImage = regexp.MustCompile(`^Talos \((v[^)]+)\)$`)

// talosVersion reads what Talos calls itself; empty for another system.
func talosVersion(osImage string) string {
	if m := talosImage.FindStringSubmatch(osImage); m != nil {
		return m[1]
	}
	return ""
}

// released is a version that somebody gave a number to.
var released = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)

// agentVersions says which agent runs: by its own word where it could be asked, by the
// images that run, and by the tag of the plan's image.
func (s *Snapshot) agentVersions(n *notes) {
	image := s.Plan.Agent.Image
	if image == "" {
		return // the pod is a script that the plan renders: return-path-spec compares it
	}
	told := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		v := s.Agents[name].Version
		told[v] = append(told[v], name)
	}
	for _, v := range slices.Sorted(maps.Keys(told)) {
		if v == s.Tool {
			n.saw("agent %s on %s", plain(v), plural(len(told[v]), "machine"))
			continue
		}
		n.warn("agent %s on %s, and this tool is %s", plain(v), named(told[v]), s.Tool)
		n.remedy("make the image with this tool, name it in agent.image, generate and apply", "homeward image push "+repository(image)+":"+s.Tool)
	}
	s.runningImages(n)
	if len(told) > 0 {
		return
	}
	tag := image[strings.LastIndexByte(image, ':')+1:]
	if !strings.Contains(image, "@") && released.MatchString(tag) && released.MatchString(s.Tool) && tag != s.Tool {
		n.warn("the plan's agent image is tagged %s, and this tool is %s", tag, s.Tool)
		n.remedy("make the image with this tool, name it in agent.image, generate and apply", "homeward image push "+repository(image)+":"+s.Tool)
	}
	n.unseen = "which version the agents are: they tell it on the private network only (agent.metrics: private)"
}

// runningImages says whether every agent runs the same image: a tag can have moved
// between two pulls.
func (s *Snapshot) runningImages(n *notes) {
	if s.ReturnPath.Err != nil {
		need(n, s.ReturnPath)
		return
	}
	running := map[string][]string{}
	for node, pods := range s.pathPods() {
		for _, c := range pods[0].Status.ContainerStatuses {
			if c.ImageID != "" {
				running[c.ImageID] = append(running[c.ImageID], node)
			}
		}
	}
	if len(running) <= 1 {
		for id, nodes := range running {
			n.saw("agent image %s on %s", plain(id), plural(len(nodes), "machine"))
		}
		return
	}
	for _, id := range slices.Sorted(maps.Keys(running)) {
		slices.Sort(running[id])
		n.warn("agent image %s on %s", plain(id), named(running[id]))
	}
	n.remedy("name the image by its digest in agent.image, generate and apply", "")
}

// repository is an image's name without tag and digest.
func repository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		image = image[:at]
	}
	return image
}

func generatedFiles(s *Snapshot, n *notes) {
	f := s.Files
	switch {
	case f.Err != nil:
		n.unknown("%s", plain(f.Err.Error()))
		n.remedy("see what stands in the way", "homeward generate -f "+s.File+" --out "+s.Out+" --diff")
	case !f.There:
		n.skip("there is no directory %s here: --out names another", netplan.Quote(s.Out))
	case f.Format > f.Known:
		n.warn("%s has format %d, and this tool makes %d", s.Out, f.Format, f.Known)
		n.remedy("use the newer Homeward that wrote them", "")
	case len(f.Differ) > 0:
		n.warn("%s of %s are not what this plan makes: %s", plural(len(f.Differ), "file"), s.Out, named(f.Differ))
		n.remedy("make them anew, then see what that changes", "homeward generate -f "+s.File+" --out "+s.Out+" --diff")
	default:
		n.saw("%s is what this plan makes, in format %d", s.Out, f.Known)
	}
}
