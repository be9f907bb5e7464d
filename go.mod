module homeward

go 1.26.6

require (
	github.com/google/go-cmp v0.7.0
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	go.yaml.in/yaml/v4 v4.0.0-rc.4
	golang.org/x/mod v0.35.0
)

require golang.org/x/text v0.14.0 // indirect
