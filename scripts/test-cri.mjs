// Runs the tests of the `cri` runtime with a separate containerd, in network, process and mount namespaces. No packet
// leaves the machine, and processes, bridges and mounts are removed with the namespaces.
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
const inside = ['sh', '-c', 'ip link set lo up && "$@"; exit $?', 'sh']

/** The reason why the tests cannot run on this machine, or undefined. */
function problem() {
  if (process.platform !== 'linux') return 'containers need Linux'
  if (process.getuid() !== 0) return 'containers need root'
  const missing = ['containerd', 'ctr', 'runc', 'unshare', 'ip', 'iptables', 'busybox'].filter(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
  )
  if (!existsSync('/usr/lib/cni/bridge')) missing.push('the CNI plug-ins in /usr/lib/cni')
  if (missing.length > 0) return `these are not installed: ${missing.join(', ')}`
  const hierarchies = existsSync('/sys/fs/cgroup/cgroup.controllers')
    ? ['/sys/fs/cgroup']
    : ['/sys/fs/cgroup/memory', '/sys/fs/cgroup/cpu']
  try {
    for (const directory of hierarchies) accessSync(directory, constants.W_OK)
  } catch {
    return 'cgroups cannot be written'
  }
  if (spawnSync('unshare', [...namespaces, 'true']).status !== 0) return 'namespaces cannot be made'
}

const why = problem()
if (why) {
  console.log(`the tests of the cri runtime did not run: ${why}`)
  // A machine that builds as root must run them.
  process.exit(process.getuid?.() === 0 ? 1 : 0)
}
const [first, ...rest] = process.argv.slice(2)
const program =
  first === '--bench'
    ? [process.execPath, 'scripts/run-ts.mjs', 'bench/cri.ts', ...rest]
    : [path.join(root, 'node_modules/.bin/vitest'), 'run', '--project', 'cri', ...process.argv.slice(2)]
const child = spawn('unshare', [...namespaces, ...inside, ...program], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
  env: { ...process.env, COXSWAIN_CRI_NAMESPACES: '1' },
})
child.once('error', (e) => {
  console.error(e.message)
  process.exit(1)
})
child.once('exit', (code) => process.exit(code ?? 1))
