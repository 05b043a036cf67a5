package rule

import (
	"errors"
	"math"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/errs"
)

// DecodeFile reads a file in YAML into a struct with yaml tags, of structs, maps,
// lists, texts, flags, numbers and pointers to these. What the file leaves out stays as it
// is. valid says afterwards what is wrong with the struct. Mistakes have their
// lines, as those in rules files do: they are a *FileError.
func DecodeFile[T any](data []byte, into *T, valid func(T) error) error {
	d := newDecoder(data)
	root := d.document(data, "write {} for what holds without it")
	if root == nil {
		return d.err()
	}
	d.value(reflect.ValueOf(into).Elem())(root, "")
	if err := d.err(); err != nil {
		return err
	}

	err := valid(*into)
	var invalid *errs.Error
	if !errors.As(err, &invalid) {
		return err
	}
	for _, v := range invalid.Fields {
		d.fail(nodeAt(root, v.Field), "%s: %s", v.Field, v.Description)
	}
	return d.err()
}

// value reads a value of DecodeFile.
func (d *decoder) value(v reflect.Value) reader {
	switch into := v.Addr().Interface().(type) {
	case *string:
		return d.text(into)
	case *bool:
		return d.flag(into)
	case *int:
		return d.number(into)
	case *[]string:
		return func(n *yaml.Node, place string) {
			*into = []string{}
			d.texts(into, math.MaxInt)(n, place)
		}
	}

	switch v.Kind() {
	case reflect.Pointer:
		item := reflect.New(v.Type().Elem())
		return func(n *yaml.Node, place string) {
			if !isNull(n) {
				v.Set(item)
				d.value(item.Elem())(n, place)
			}
		}
	case reflect.Slice:
		return func(n *yaml.Node, place string) {
			d.list(n, place, math.MaxInt, func(n *yaml.Node, place string) {
				item := reflect.New(v.Type().Elem()).Elem()
				d.value(item)(n, place)
				v.Set(reflect.Append(v, item))
			})
		}
	}

	return func(n *yaml.Node, place string) {
		if isNull(n) {
			return
		}
		known := map[string]reader{}
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
				known[name] = d.value(v.Field(i))
			}
			d.mapping(n, place, known)
			return
		}

		v.Set(reflect.MakeMap(v.Type()))
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			key := n.Content[i].Value
			known[key] = func(n *yaml.Node, place string) {
				item := reflect.New(v.Type().Elem()).Elem()
				d.value(item)(n, place)
				v.SetMapIndex(reflect.ValueOf(key), item)
			}
		}
		d.mapping(n, place, known)
	}
}
