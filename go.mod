module homeward

go 1.26.6

require (
	go.yaml.in/yaml/v4 v4.0.0-rc.4
	golang.org/x/mod v0.35.0
)
