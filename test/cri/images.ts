import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface ImageOptions {
  cmd: readonly string[]
  env?: readonly string[]
  /** The user of the image, as a Dockerfile's USER says it. */
  user?: string
  /** Programs of this machine that the image has besides busybox, with their libraries. */
  programs?: readonly string[]
}

interface Blob {
  digest: string
  bytes: Buffer
}

/** An image made of Debian's static busybox and programs of this machine, without any registry. */
export interface Image {
  manifest: Blob
  config: Blob
  layers: readonly Blob[]
  /** Writes it as an archive that `ctr images import` reads. */
  writeArchive(file: string, name: string): Promise<void>
}

export const manifestType = 'application/vnd.oci.image.manifest.v1+json'

const blob = (content: Buffer | object): Blob => {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
  return { bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` }
}

/** The layer with the files that `fill` puts into its root directory. */
function layerWith(fill: (root: string) => void): Blob {
  const directory = mkdtempSync(path.join(tmpdir(), 'cox-image-'))
  const root = path.join(directory, 'root')
  mkdirSync(root)
  fill(root)
  const archive = path.join(directory, 'layer.tar')
  execFileSync('tar', ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '-C', root, '-cf', archive, '.'])
  const layer = blob(readFileSync(archive))
  rmSync(directory, { recursive: true, force: true })
  return layer
}

let busyboxLayer: Blob | undefined

function fillWithBusybox(root: string): void {
  for (const name of ['bin', 'tmp', 'etc', 'proc', 'sys', 'dev', 'root', 'var/www']) mkdirSync(path.join(root, name), { recursive: true })
  chmodSync(path.join(root, 'tmp'), 0o1777)
  copyFileSync('/usr/bin/busybox', path.join(root, 'bin/busybox'))
  chmodSync(path.join(root, 'bin/busybox'), 0o755)
  const applets = execFileSync('/usr/bin/busybox', ['--list'], { encoding: 'utf8' }).trim().split('\n')
  for (const name of applets) if (name !== 'busybox') symlinkSync('busybox', path.join(root, 'bin', name))
  writeFileSync(path.join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nweb:x:1000:1000::/tmp:/bin/sh\n')
  writeFileSync(path.join(root, 'etc/group'), 'root:x:0:\nweb:x:1000:\nextra:x:4000:web\n')
}

/** Copies programs to /bin, and the libraries that `ldd` lists to their own paths. */
function fillWithPrograms(root: string, programs: readonly string[]): void {
  mkdirSync(path.join(root, 'bin'))
  const libraries = programs.flatMap((program) => execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? [])
  for (const library of new Set(libraries)) {
    mkdirSync(path.join(root, path.dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), path.join(root, library))
  }
  for (const program of programs) copyFileSync(realpathSync(program), path.join(root, 'bin', path.basename(program)))
}

export function makeImage({ cmd, env = [], user = '', programs = [] }: ImageOptions): Image {
  // All images share this layer.
  busyboxLayer ??= layerWith(fillWithBusybox)
  const layers = [busyboxLayer, ...(programs.length > 0 ? [layerWith((root) => fillWithPrograms(root, programs))] : [])]
  const config = blob({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin', ...env], Cmd: cmd, WorkingDir: '/', User: user },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    history: layers.map(() => ({ created_by: 'test' })),
  })
  const described = (mediaType: string, { digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length })
  const manifest = blob({
    schemaVersion: 2,
    mediaType: manifestType,
    config: described('application/vnd.oci.image.config.v1+json', config),
    layers: layers.map((one) => described('application/vnd.oci.image.layer.v1.tar', one)),
  })
  return {
    manifest, config, layers,
    async writeArchive(file, name) {
      const directory = mkdtempSync(path.join(tmpdir(), 'cox-image-'))
      mkdirSync(path.join(directory, 'blobs/sha256'), { recursive: true })
      for (const { digest, bytes } of [manifest, config, ...layers]) writeFileSync(path.join(directory, 'blobs', digest.replace(':', '/')), bytes)
      writeFileSync(path.join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
      const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.split(':').pop() }
      writeFileSync(path.join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [{ ...described(manifestType, manifest), annotations }] }))
      await run('tar', ['-C', directory, '-cf', file, '.'])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
