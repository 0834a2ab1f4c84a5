// Loads each tools file as the command line does, and prints its tools or the error.
import { loadToolsFile } from '../dist/cli/load-tools-file.js';

const loaded = {};
for (const file of process.argv.slice(2)) {
  loaded[file] = await loadToolsFile(file).then(
    ({ tools }) => ({ names: tools.map(({ name }) => name) }),
    ({ code, message }) => ({ code, message }),
  );
}
console.log(JSON.stringify(loaded));
