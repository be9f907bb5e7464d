package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// What the server says no with, for errors.Is.
var (
	// ErrAbsent: there is no such object, or the cluster has no such kind.
	ErrAbsent = errors.New("the cluster has no such object or kind")
	// ErrForbidden: the user has not the right.
	ErrForbidden = errors.New("this user may not read that")
)

// The bounds of what is read: objects in one page, pages, and bytes of a page.
const (
	pageSize  = 500
	mostPages = 200
	mostBytes = 64 << 20
)

// List reads all pages of a list. The selector is one of labels, or empty. Objects are
// decoded loosely: a field that T does not know is left out.
func List[T any](ctx context.Context, c *Client, path, selector string) ([]T, error) {
	var all []T
	next := ""
	for range mostPages {
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []T `json:"items"`
		}
		query := url.Values{"limit": {fmt.Sprint(pageSize)}}
		if selector != "" {
			query.Set("labelSelector", selector)
		}
		if next != "" {
			query.Set("continue", next)
		}
		if err := c.get(ctx, path, query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if next = page.Metadata.Continue; next == "" {
			return all, nil
		}
	}
	return nil, fmt.Errorf("%s has more than %d objects", path, pageSize*mostPages)
}

// Get reads one object. Where there is none the error is [ErrAbsent].
func Get[T any](ctx context.Context, c *Client, path string) (*T, error) {
	out := new(T)
	if err := c.get(ctx, path, nil, out); err != nil {
		return nil, err
	}
	return out, nil
}

func (c *Client) get(ctx context.Context, path string, query url.Values, into any) error {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the query
		}
		return fmt.Errorf("GET %s: %w", path, withoutCredential(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: %w", path, err)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("GET %s: %w", path, ErrAbsent)
	case resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("GET %s: %w", path, ErrForbidden)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("GET %s: the server says %s", path, resp.Status)
	case len(body) > mostBytes:
		return fmt.Errorf("GET %s: an answer of more than %d MiB", path, mostBytes>>20)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: the answer is not what was asked for: %w", path, err)
	}
	return nil
}

// withoutCredential takes out of an error what an exec plugin printed: client-go quotes
// parts of it where it is no credential, and it may be one all the same.
func withoutCredential(err error) error {
	const asking = "getting credentials: "
	text, asked := strings.CutPrefix(err.Error(), asking)
	if !asked {
		return err
	}
	for _, harmless := range []string{"exec: ", "exec plugin cannot support", "exec plugin didn't return"} {
		if strings.HasPrefix(text, harmless) {
			return err
		}
	}
	return errors.New(asking + "what the kubeconfig's exec plugin printed is no credential that can be used")
}
