package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"homeward/netplan"
)

// differences gives a line for each leaf in which two JSON values differ. Lists of
// texts are compared by what is in them first: an argument more or less shows as that.
func differences(path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		var out []string
		for _, key := range slices.Sorted(maps.Keys(union(w, g))) {
			out = append(out, differences(path+"."+key, w[key], g[key])...)
		}
		return out
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if a, b, ok := texts(w, g); ok && len(a) > 1 && len(b) > 1 {
			return textDifferences(path, a, b)
		}
		var out []string
		for i := range max(len(w), len(g)) {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), at(w, i), at(g, i))...)
		}
		return out
	}
	a, b := shown(want), shown(got)
	if a == b {
		return nil
	}
	return []string{differ(path, want, got, a, b)}
}

func differ(path string, want, got any, a, b string) string {
	switch {
	case want == nil:
		return fmt.Sprintf("%s is %s, which the plan has not", path, excerpt(b, 0))
	case got == nil:
		return fmt.Sprintf("%s is missing: the plan has %s", path, excerpt(a, 0))
	}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	return fmt.Sprintf("%s is %s, the plan has %s", path, excerpt(b, from), excerpt(a, from))
}

// textDifferences compares lists of texts.
func textDifferences(path string, want, got []string) []string {
	var out []string
	for _, g := range got {
		if !slices.Contains(want, g) {
			out = append(out, fmt.Sprintf("%s has %s, which the plan has not", path, excerpt(g, 0)))
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			out = append(out, fmt.Sprintf("%s lacks %s", path, excerpt(w, 0)))
		}
	}
	if len(out) == 0 && !slices.Equal(want, got) {
		out = append(out, path+" has another order, or repeats itself")
	}
	return out
}

// texts says that both lists hold texts only.
func texts(a, b []any) (x, y []string, ok bool) {
	for _, v := range a {
		s, ok := v.(string)
		if !ok {
			return nil, nil, false
		}
		x = append(x, s)
	}
	for _, v := range b {
		s, ok := v.(string)
		if !ok {
			return nil, nil, false
		}
		y = append(y, s)
	}
	return x, y, true
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// shown is a JSON value as text; what is absent has none.
func shown(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// excerpt quotes a value from shortly before where it differs.
func excerpt(s string, from int) string {
	const before = 16
	if from > before && len(s) > 64 {
		return "..." + netplan.Quote(strings.ToValidUTF8(s[from-before:], ""))
	}
	return netplan.Quote(s)
}
