package redact

import "reflect"

// This file takes secrets out of a whole document. It upholds: a new text field
// is covered without anybody thinking of it.

// Copy returns v with Text applied to every string in it, at any depth. Nothing
// is shared with v that could hold a string. Unexported fields and bytes stay
// as they are; so do types that can't hold a string.
func Copy[T any](v T) T {
	clean(reflect.ValueOf(&v).Elem())
	return v
}

// clean works on a value that is a copy already; what it refers to is not.
func clean(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" {
			if t := Text(s); t != s {
				v.SetString(t)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				clean(f)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			clean(v.Index(i))
		}
	case reflect.Slice:
		if v.IsNil() || flat(v.Type().Elem().Kind()) {
			return
		}
		to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(to, v)
		for i := range to.Len() {
			clean(to.Index(i))
		}
		v.Set(to)
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		to := reflect.New(v.Elem().Type())
		to.Elem().Set(v.Elem())
		clean(to.Elem())
		if v.Kind() == reflect.Interface {
			to = to.Elem()
		}
		v.Set(to)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		to := reflect.MakeMapWithSize(v.Type(), v.Len())
		for i := v.MapRange(); i.Next(); {
			to.SetMapIndex(copied(i.Key()), copied(i.Value()))
		}
		v.Set(to)
	}
}

func copied(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	clean(to)
	return to
}

// flat tells whether a value of that kind can't hold a string.
func flat(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128
}
