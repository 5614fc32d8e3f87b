import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { randomInt } from 'node:crypto'
import { type Image, makeImage } from './images.ts'
import { Registry } from './registry.ts'

const run = promisify(execFile)

/** Images that every containerd of the tests has. */
const pauseImage = 'registry.k8s.io/pause:3.10'
const present = [
  { name: pauseImage, cmd: ['sleep', '1000000000'] },
  { name: 'docker.io/library/busybox:1.36', cmd: ['sh'] },
  { name: 'docker.io/library/busybox:1.37', cmd: ['sh', '-i'] },
  { name: 'docker.io/library/busybox:latest', cmd: ['sh', '-l'] },
  // Answers as the placeholders of the process runtime do.
  { name: 'docker.io/library/nginx:latest', cmd: ['sh', '-c', 'echo "container web of pod default/$(hostname)" > /var/www/index.html; mkdir -p /var/www/any; cp /var/www/index.html /var/www/any/path; exec httpd -f -p 80 -h /var/www'] },
]

/** A containerd with root, state, socket, network and registry of its own. */
export class Containerd {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'cox-cri-'))
  readonly registry = new Registry()
  #process: ChildProcess | undefined
  /** Each has a network of its own: several may run at once. */
  readonly #number = randomInt(1 << 14)
  readonly #bridge = `cox${this.#number}`
  readonly subnet = `10.${64 + (this.#number >> 8)}.${this.#number & 255}.0/24`

  static async start(): Promise<Containerd> {
    const containerd = new Containerd()
    try {
      await containerd.#prepare()
      await containerd.launch()
      for (const { name, cmd } of present) {
        const image = makeImage({ cmd })
        await containerd.import(name, image)
        // An image without a tag is pulled each time.
        containerd.registry.serve(name.replace('docker.io/', ''), image)
      }
    } catch (e) {
      await containerd.remove()
      throw e
    }
    return containerd
  }

  get socket(): string {
    return path.join(this.directory, 'containerd.sock')
  }

  get endpoint(): string {
    return `unix://${this.socket}`
  }

  get pid(): number {
    return this.#process!.pid!
  }

  get log(): string {
    return readFileSync(path.join(this.directory, 'log'), 'utf8')
  }

  /** The file with the network of pods, and the directory with its plug-ins. */
  get networkFile(): string {
    return path.join(this.directory, 'cni/conf/10-pods.conflist')
  }

  get pluginDirectory(): string {
    return path.join(this.directory, 'cni/bin')
  }

  /** Starts the program, and waits until it answers. */
  async launch(): Promise<void> {
    const log = openSync(path.join(this.directory, 'log'), 'a')
    this.#process = spawn('containerd', ['--config', path.join(this.directory, 'config.toml')], { stdio: ['ignore', log, log] })
    await until(async () => (await this.ctr('plugins', 'ls', 'id==cri')).includes('ok'))
  }

  /** Ends the program alone: pods go on. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  /** As if the machine had been started anew: nothing runs, and what was only in memory is gone. */
  async reboot(): Promise<void> {
    await this.kill()
    const trees = this.#cgroupTrees()
    for (const pid of this.shims()) process.kill(pid, 'SIGKILL')
    await run('sh', [path.resolve('test/cri/remove-cgroups.sh'), ...trees])
    await this.#unmount(path.join(this.directory, 'state'))
    rmSync(path.join(this.directory, 'state'), { recursive: true })
    await run('ip', ['link', 'delete', this.#bridge])
    await this.launch()
  }

  ctr(...args: string[]): Promise<string> {
    return ctr(this.socket, ...args)
  }

  /** Ends it with everything that it runs. What is mounted goes with the network and mount namespaces of the tests. */
  async remove(): Promise<void> {
    await this.kill('SIGTERM')
    await this.registry.close()
    const trees = this.#cgroupTrees()
    for (const pid of this.shims()) process.kill(pid, 'SIGKILL')
    await run('sh', [path.resolve('test/cri/remove-cgroups.sh'), ...trees])
    await this.#unmount(this.directory)
    rmSync(this.directory, { recursive: true, force: true })
  }

  async #unmount(below: string): Promise<void> {
    await run('sh', ['-c', 'for m in $(awk \'index($2, d) == 1 { print $2 }\' d="$1" /proc/mounts | sort -r); do umount -l "$m"; done', 'sh', below])
  }

  /** The trees of cgroups that its containers are in. */
  #cgroupTrees(): Set<string> {
    const tasks = path.join(this.directory, 'state/io.containerd.runtime.v2.task/k8s.io')
    const paths = (existsSync(tasks) ? readdirSync(tasks) : []).map((id) => {
      const file = path.join(tasks, id, 'config.json')
      const { linux } = JSON.parse(existsSync(file) ? readFileSync(file, 'utf8') : '{}') as { linux?: { cgroupsPath?: string } }
      return linux?.cgroupsPath?.split('/')[1] ?? ''
    })
    return new Set(paths.filter((name) => name.startsWith('coxswain-')))
  }

  /** Addresses that are given out to pods. */
  addresses(): string[] {
    const directory = path.join(this.directory, 'cni/data/pods')
    return existsSync(directory) ? readdirSync(directory).filter((name) => name.startsWith('10.')) : []
  }

  /** The shims of its pods; of one pod only, by its sandbox. */
  shims(sandboxId?: string): number[] {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
      const line = commandLine(pid)
      return line.includes('containerd-shim') && line.includes(this.socket) && (sandboxId === undefined || line.includes(sandboxId))
    })
  }

  async #prepare(): Promise<void> {
    for (const name of ['root', 'state', 'cni/conf', 'cni/bin', 'cni/data', 'certs.d/docker.io', 'certs.d/registry.test']) mkdirSync(path.join(this.directory, name), { recursive: true })
    const port = await this.registry.listen()
    for (const host of ['docker.io', 'registry.test']) {
      writeFileSync(path.join(this.directory, 'certs.d', host, 'hosts.toml'), `server = "http://127.0.0.1:${port}"\n[host."http://127.0.0.1:${port}"]\n  capabilities = ["pull", "resolve"]\n`)
    }
    for (const name of readdirSync('/usr/lib/cni')) symlinkSync(path.join('/usr/lib/cni', name), path.join(this.pluginDirectory, name))
    this.network()
    writeFileSync(path.join(this.directory, 'config.toml'), this.#config())
  }

  /** Writes the network of pods. `ipam` is the plug-in that gives out addresses. */
  network({ ipam: type = 'host-local' } = {}): void {
    const ipam = { type, dataDir: path.join(this.directory, 'cni/data'), ranges: [[{ subnet: this.subnet }]], routes: [{ dst: '0.0.0.0/0' }] }
    const bridge = { type: 'bridge', bridge: this.#bridge, isGateway: true, ipMasq: false, hairpinMode: true, ipam }
    const list = { cniVersion: '1.0.0', name: 'pods', plugins: [bridge, { type: 'portmap', capabilities: { portMappings: true } }] }
    writeFileSync(this.networkFile, JSON.stringify(list))
  }

  #config(): string {
    const runtime = (name: string) => `
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}.options]
      SystemdCgroup = false`
    return `version = 2
root = "${this.directory}/root"
state = "${this.directory}/state"
[grpc]
  address = "${this.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  ${['runc', 'fast'].map(runtime).join('\n')}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${this.pluginDirectory}"
    conf_dir = "${path.dirname(this.networkFile)}"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${this.directory}/certs.d"
`
  }

  import(name: string, image: Image): Promise<void> {
    return importImage(this.socket, name, image)
  }
}

async function ctr(socket: string, ...args: string[]): Promise<string> {
  return (await run('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args], { maxBuffer: 64 << 20 })).stdout
}

/** Puts an image into a containerd without a pull. */
export async function importImage(socket: string, name: string, image: Image): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'cox-archive-'))
  try {
    const archive = path.join(directory, 'image.tar')
    await image.writeArchive(archive, name)
    await ctr(socket, 'images', 'import', archive)
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Tries until it holds. Rejects after 20 s with what went wrong last. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  let last: unknown = new Error('it did not come to hold')
  for (let look = 0; look < 400; look++) {
    try {
      if (await holds()) return
    } catch (e) {
      last = e
    }
    await wait(50)
  }
  throw last
}

/** The program and its arguments, each with a space behind it. Empty if there is no such process. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}
