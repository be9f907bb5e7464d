package pvesim

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
)

// table is a map that is cheap to copy: a copy shares the content until one of
// the two changes. Its values must never be changed in place.
type table[K cmp.Ordered, V any] struct {
	m      map[K]V
	shared bool
	// sum is the content's, as long as it holds.
	sum   [sha256.Size]byte
	known bool
}

// share gives a copy.
func (t *table[K, V]) share() table[K, V] {
	t.shared = true
	return *t
}

func (t *table[K, V]) all() map[K]V { return t.m }

func (t *table[K, V]) get(k K) (V, bool) {
	v, ok := t.m[k]
	return v, ok
}

func (t *table[K, V]) own() {
	if t.m == nil {
		t.m = map[K]V{}
	} else if t.shared {
		t.m = maps.Clone(t.m)
	}
	t.shared, t.known = false, false
}

func (t *table[K, V]) set(k K, v V) {
	t.own()
	t.m[k] = v
}

func (t *table[K, V]) drop(k K) {
	t.own()
	delete(t.m, k)
}

// keys in ascending order.
func (t *table[K, V]) keys() []K { return slices.Sorted(maps.Keys(t.m)) }

// digest is a hash of the content.
func (t *table[K, V]) digest() [sha256.Size]byte {
	if !t.known {
		// What can be here is made of strings, numbers and maps of them.
		text, err := json.Marshal(t.m)
		if err != nil {
			panic("pvesim: a state that is no JSON: " + err.Error())
		}
		t.sum, t.known = sha256.Sum256(text), true
	}
	return t.sum
}
