#!/usr/bin/env node
// Runs on any Node, so that an old one gets a sentence in place of a syntax error.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 15)) {
  process.stderr.write(
    `fermata needs Node 22.15 or newer; this is Node ${process.versions.node}.\n` +
      'Install a newer Node, or put one beside it with: npm install node@24\n' +
      'and start through npm (npx fermata ..., npm run ...), which then uses that one.\n',
  );
  process.exit(3);
}
const { enableCompileCache } = await import('node:module');
enableCompileCache?.();
const { main } = await import('../dist/cli/main.js');
process.exitCode = await main(process.argv.slice(2));
