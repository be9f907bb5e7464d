package pvesim

import "strings"

// upid is a task's name. What a task does here is done when its name is known.
func upid(node, kind, id, user string) string {
	return "UPID:" + node + ":00001000:00000001:00000001:" + kind + ":" + id + ":" + user + ":"
}

func getTaskStatus(c *call) (any, error) {
	parts, err := taskParts(c)
	if err != nil {
		return nil, err
	}
	return entry{"upid": c.params["upid"], "node": parts[1], "pid": 4096, "pstart": 1, "starttime": 1, "type": parts[5], "id": parts[6], "user": parts[7], "status": "stopped", "exitstatus": "OK"}, nil
}

func getTaskLog(c *call) (any, error) {
	if _, err := taskParts(c); err != nil {
		return nil, err
	}
	return []entry{{"n": 1, "t": "TASK OK"}}, nil
}

func taskParts(c *call) ([]string, error) {
	parts := strings.Split(c.params["upid"], ":")
	if len(parts) != 9 || parts[0] != "UPID" || parts[1] != c.params["node"] {
		return nil, refuse("unable to parse worker upid '%s'", c.params["upid"])
	}
	return parts, nil
}
