//go:build linux

package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/nftables"

	"homeward/netplan"
)

// The earlier scheme's table is of family ip.
func legacyTable() *nftables.Table {
	return &nftables.Table{Name: netplan.LegacyNFTablesTable, Family: nftables.TableFamilyIPv4}
}

// HasLegacyTable says whether the earlier scheme's table is there.
func (k *Kernel) HasLegacyTable(ctx context.Context) (bool, error) {
	if err := errDone(ctx); err != nil {
		return false, err
	}
	conn, err := k.nft()
	if err != nil {
		return false, err
	}
	_, err = conn.ListTableOfFamily(netplan.LegacyNFTablesTable, nftables.TableFamilyIPv4)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	}
	return false, fmt.Errorf("listing table ip %s: %w", netplan.LegacyNFTablesTable, err)
}

// DeleteLegacyTable removes it; that it is gone already is no error.
func (k *Kernel) DeleteLegacyTable(ctx context.Context) error {
	return k.deleteTable(ctx, legacyTable())
}
