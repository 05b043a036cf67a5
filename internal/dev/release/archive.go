package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"time"
)

// file is what goes into an archive.
type file struct {
	Name       string // with slashes, below the archive's only folder
	Content    []byte
	Executable bool
}

func (f file) mode() fs.FileMode {
	if f.Executable {
		return 0o755
	}
	return 0o644
}

// writeTarGz writes files into a folder of a compressed tar archive. Nothing in
// it depends on the machine: all are root's and of one date.
func writeTarGz(w io.Writer, folder string, files []file, date time.Time) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.Name, Size: int64(len(f.Content)),
			Mode: int64(f.mode()), ModTime: date, Format: tar.FormatPAX,
		})
		if err != nil {
			return err
		}
		if _, err := archive.Write(f.Content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// writeZip writes files into a folder of a zip archive.
func writeZip(w io.Writer, folder string, files []file, date time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.Name, Method: zip.Deflate, Modified: date.UTC()}
		h.SetMode(f.mode())
		entry, err := archive.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.Content); err != nil {
			return err
		}
	}
	return archive.Close()
}
