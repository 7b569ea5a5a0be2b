// A relay that holds each request up, for run.py. Answers are handed on by the kernel.
//
//	relay TARGET DELAY
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"
)

func main() {
	target := os.Args[1]
	delay, err := time.ParseDuration(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(client.(*net.TCPConn), target, delay)
	}
}

func serve(client *net.TCPConn, target string, delay time.Duration) {
	defer client.Close()
	far, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	server := far.(*net.TCPConn)
	defer server.Close()
	go requests(client, server, delay)
	// From one connection to another: this is splice(2).
	io.Copy(client, server)
}

func requests(client, server *net.TCPConn, delay time.Duration) {
	defer server.CloseWrite()
	buffer := make([]byte, 64<<10)
	for {
		count, err := client.Read(buffer)
		if count > 0 {
			time.Sleep(delay)
			if _, err := server.Write(buffer[:count]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
