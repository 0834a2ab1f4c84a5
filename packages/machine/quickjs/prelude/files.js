// files: the program's own /work and /tmp. A path without a leading slash is in /work.
(function (natives, shared) {
  'use strict';
  const { push, split, join, sortList, test, TypeError } = shared.js;
  const { readFile, writeFile, appendFile, listFolder, fileStatus, removeFile, removeFolder, makeFolder, utf8Encode, utf8Decode } = natives;

  function absolute(path) {
    if (typeof path !== 'string' || path === '') throw new TypeError('a path (a string) is needed');
    if (test(/\0/, path)) throw new TypeError('a path cannot have a NUL character in it');
    const kept = [];
    const parts = split(path[0] === '/' ? path : `/work/${path}`, '/');
    for (let i = 0; i < parts.length; i++) {
      if (parts[i] === '..') kept.length = kept.length ? kept.length - 1 : 0;
      else if (parts[i] !== '' && parts[i] !== '.') push(kept, parts[i]);
    }
    return `/${join(kept, '/')}`;
  }
  const toBytes = (data) => (typeof data === 'string' ? utf8Encode(data) : data);
  const isFolder = (path) => fileStatus(path)?.[0] === true;

  function mkdir(path) {
    const parts = split(absolute(path), '/');
    let at = '';
    for (let i = 1; i < parts.length; i++) {
      at += `/${parts[i]}`;
      if (fileStatus(at) === undefined) makeFolder(at);
    }
  }
  function remove(path) {
    const at = absolute(path);
    if (!isFolder(at)) return removeFile(at);
    const names = listFolder(at);
    for (let i = 0; i < names.length; i++) remove(`${at}/${names[i]}`);
    return removeFolder(at);
  }

  const files = {
    read: (path) => readFile(absolute(path)),
    readText: (path) => utf8Decode(readFile(absolute(path)), false),
    readJson: (path) => JSON.parse(files.readText(path)),
    write: (path, data) => writeFile(absolute(path), toBytes(data)),
    append: (path, data) => appendFile(absolute(path), toBytes(data)),
    list: (path = '/work') => sortList(listFolder(absolute(path))),
    exists: (path) => fileStatus(absolute(path)) !== undefined,
    stat(path) {
      const status = fileStatus(absolute(path));
      return status && { isFolder: status[0], size: status[1], modified: new Date(status[2]) };
    },
    remove,
    mkdir,
  };
  shared.global('files', files);
})
