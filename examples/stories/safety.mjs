/** Code that reads the host's files or starts processes fails by name; the next task does not notice. */
import { client } from './client.mjs';

const programs = {
  'reads the password file': "open('/etc/passwd').read()",
  'starts a shell': "import subprocess\nsubprocess.run('id', shell=True)",
  'removes files': "import shutil\nshutil.rmtree('/home')",
  'does its job': 'sum(range(10))',
};
for (const [what, code] of Object.entries(programs)) {
  const task = await client.tasks.create({ language: 'python', code, wait_seconds: 60 });
  console.log(`${what}: ${task.status} ${task.status === 'failed' ? `${task.error.code} ${task.error.name}` : task.result.output}`);
}
