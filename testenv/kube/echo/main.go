// Command echo is the lab's backend: it sends back what it gets, over TCP and
// UDP. As pause it only waits, which is all that a pod's sandbox has to do.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "pause" {
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
		<-ended
		return
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "echo: give an address to listen on, or pause")
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, "echo:", serve(os.Args[1]))
	os.Exit(1)
}

// serve answers on wildcard sockets, as most servers have them, until one fails.
func serve(address string) error {
	listener, err := net.Listen("tcp4", address)
	if err != nil {
		return err
	}
	packets, err := net.ListenPacket("udp4", address)
	if err != nil {
		return err
	}
	go answer(packets)
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			// A client that resets has had its answer, or counts it as lost.
			_, _ = io.Copy(c, c)
		}()
	}
}

func answer(packets net.PacketConn) {
	buffer := make([]byte, 65536)
	for {
		n, from, err := packets.ReadFrom(buffer)
		if err != nil {
			// An earlier answer was refused; a later request still counts.
			continue
		}
		// An answer that cannot be sent is a lost one; the client counts it.
		_, _ = packets.WriteTo(buffer[:n], from)
	}
}
