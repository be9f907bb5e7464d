package pvesim

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// table is a map that is cheap to copy: a copy shares the content until one of
// the two changes. Its values must never be changed in place.
type table[K cmp.Ordered, V any] struct {
	m      map[K]V
	shared bool
	// sum is the content's, which copies share: whoever changes the content takes
	// another one.
	sum *contentSum
}

type contentSum struct {
	once sync.Once
	sum  [sha256.Size]byte
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
	t.shared, t.sum = false, &contentSum{}
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
	if t.sum == nil {
		t.sum = &contentSum{}
	}
	t.sum.once.Do(func() {
		if len(t.m) == 0 {
			return // the same for a table that was emptied and one that never had anything
		}
		// What can be here is made of strings, numbers and maps of them.
		text, err := json.Marshal(t.m)
		if err != nil {
			panic("pvesim: a state that is no JSON: " + err.Error())
		}
		t.sum.sum = sha256.Sum256(text)
	})
	return t.sum.sum
}
