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
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say which cluster is read.
type Options struct {
	// Kubeconfig is a file, and Context one of its contexts; empty is the current one.
	Kubeconfig, Context string
	UserAgent           string
}

// Client lists.
type Client struct {
	base *url.URL
	http *http.Client
}

// timeout bounds one request.
const timeout = 20 * time.Second

// Open reads the kubeconfig. Nothing is sent. Its errors are the command line's or the
// file's.
func Open(o Options) (*Client, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.UserAgent = o.UserAgent
	config.Timeout = timeout
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("preparing the connection that the kubeconfig asks for: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return &Client{base: base, http: client}, nil
}

// errAbsent says that the server has no such kind.
var errAbsent = errors.New("the cluster has no such kind")

// The bounds of what is read: objects in one page, pages, and bytes of a page.
const (
	pageSize  = 500
	mostPages = 200
	mostBytes = 64 << 20
)

// list reads all pages of a list.
func list[T any](ctx context.Context, c *Client, path, selector string) ([]T, error) {
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
		return fmt.Errorf("GET %s: %w", path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("GET %s: %w", path, err)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("GET %s: %w", path, errAbsent)
	case resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("GET %s: this user may not list that", path)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("GET %s: the server says %s", path, resp.Status)
	case len(body) > mostBytes:
		return fmt.Errorf("GET %s: an answer of more than %d MiB", path, mostBytes>>20)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: the answer is no list: %w", path, err)
	}
	return nil
}
