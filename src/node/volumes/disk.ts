import { execFile } from 'node:child_process'
import {
  access,
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { VolumeFiles } from './files.ts'
import { type Located, giveAway, locate } from './safe-walk.ts'

/** Where volumes are kept. A runtime that has no use for them gets one that keeps nothing. */
export interface Disk {
  /** Whether anybody will read what is written. */
  readonly keepsFiles: boolean
  /** Makes a directory, its parents too, unless it is there. */
  makeDirectory(directory: string, mode?: number): Promise<void>
  /**
   * Makes a directory whose contents are in memory, of so many bytes at most; without a limit half of the memory there
   * is.
   */
  makeMemory(directory: string, sizeBytes: number | undefined): Promise<void>
  /**
   * Checks, or makes, a path of the host's as a hostPath volume's type says. What is made belongs to `owner`, if there
   * is one. Throws what is wrong with it.
   */
  prepareHostPath(hostPath: string, type: string, owner?: number): Promise<void>
  /**
   * Makes the files of a directory these and no others, all at the same moment for who looks. They belong to `owner`,
   * if there is one.
   */
  writeFiles(directory: string, files: VolumeFiles, owner?: number): Promise<void>
  /** Gives all of a directory to a user and a group of the same id, unless the directory is theirs already. */
  giveToUser(directory: string, uid: number): Promise<void>
  /**
   * Gives all of a directory to a group, which may read it, and unless it is only for reading write it; what is made in
   * it later is the group's, too.
   */
  giveToGroup(directory: string, gid: number, readOnly: boolean): Promise<void>
  /**
   * Finds what is `below` a volume's root, through links that stay inside. Directories that are missing are made with
   * the root's mode. Throws where it leads out of the volume.
   */
  locate(root: string, below: string): Promise<Located>
  /** Makes an empty file that everybody may write to, and its directory. */
  makeNote(file: string): Promise<void>
  /** Writes a file in its place, its directory too. */
  writeFile(file: string, text: string): Promise<void>
  /** The end of a file, of so many bytes; empty for one that is not there. */
  readEnd(file: string, mostBytes: number): Promise<string>
  /** Removes a directory with all that is in it. */
  remove(directory: string): Promise<void>
}

/** Keeps nothing. */
export const noDisk: Disk = {
  keepsFiles: false,
  makeDirectory: async () => {},
  makeMemory: async () => {},
  prepareHostPath: async () => {},
  writeFiles: async () => {},
  giveToGroup: async () => {},
  giveToUser: async () => {},
  locate: async (root, below) => ({ path: path.join(root, below), identity: undefined }),
  makeNote: async () => {},
  writeFile: async () => {},
  readEnd: async () => '',
  remove: async () => {},
}

const run = promisify(execFile)

/** The mounts at or below a directory of this machine, in the order in which they were made. */
async function mountsBelow(directory: string): Promise<string[]> {
  if (process.platform !== 'linux') return []
  const targets = (await readFile('/proc/self/mounts', 'utf8'))
    .split('\n')
    .map((line) => (line.split(' ')[1] ?? '').replaceAll('\\040', ' '))
  return targets.filter((target) => target === directory || target.startsWith(`${directory}${path.sep}`))
}

const exists = (at: string): Promise<boolean> =>
  access(at).then(
    () => true,
    () => false,
  )

/** The machine's own file system. */
export const localDisk: Disk = {
  keepsFiles: true,

  async makeDirectory(directory, mode) {
    await mkdir(directory, { recursive: true })
    if (mode !== undefined) await chmod(directory, mode)
  },

  async makeMemory(directory, sizeBytes) {
    if ((await mountsBelow(directory)).includes(directory)) return
    await mkdir(directory, { recursive: true })
    const size = sizeBytes === undefined ? '' : `size=${sizeBytes},`
    await run('mount', ['-t', 'tmpfs', '-o', `${size}mode=1777,nosuid,nodev`, 'tmpfs', directory])
  },

  async prepareHostPath(hostPath, type, owner) {
    const isThere = await exists(hostPath)
    if (type === '' && isThere) return
    // Without a type kubelet checks nothing, and the runtime makes the directory that it lacks.
    const isDirectory = type === '' || type === 'DirectoryOrCreate'
    if (!isThere && (isDirectory || type === 'FileOrCreate')) {
      if (isDirectory) await mkdir(hostPath, { recursive: true, mode: 0o755 })
      else await writeFile(hostPath, '', { mode: 0o644, flag: 'wx' })
      if (owner !== undefined) await lchown(hostPath, owner, owner)
      return
    }
    if (!isThere) throw new Error(`hostPath type check failed: ${hostPath} is not a ${words[type] ?? type}`)
    const info = await stat(hostPath)
    const isRight = type.startsWith('Directory')
      ? info.isDirectory()
      : type.startsWith('File')
        ? info.isFile()
        : type === 'Socket'
          ? info.isSocket()
          : true
    if (!isRight) throw new Error(`hostPath type check failed: ${hostPath} is not a ${words[type] ?? type}`)
  },

  /** As Kubernetes does it: files are links through `..data`, which is turned over to a new directory in one step. */
  async writeFiles(directory, files, owner) {
    await mkdir(directory, { recursive: true })
    const link = path.join(directory, '..data')
    const old = await readlink(link).catch(() => undefined)
    const generation = Number(/^\.\.(\d+)$/.exec(old ?? '')?.[1] ?? 0) + 1
    const fresh = path.join(directory, `..${generation}`)
    await rm(fresh, { recursive: true, force: true })
    await mkdir(fresh, { recursive: true })
    for (const [name, { data, mode }] of files) {
      const at = path.join(fresh, name)
      await mkdir(path.dirname(at), { recursive: true })
      await writeFile(at, data)
      if (owner !== undefined) await chown(at, owner, owner)
      await chmod(at, mode)
    }
    const next = path.join(directory, '..data_tmp')
    await rm(next, { force: true })
    await symlink(`..${generation}`, next)
    await rename(next, link)
    await linkEntries(directory, files)
    if (old) await rm(path.join(directory, old), { recursive: true, force: true })
  },

  async giveToGroup(directory, gid, readOnly) {
    // Only root may give files away; who is not runs everything as the same user anyway.
    if (process.getuid?.() !== 0) return
    // What was given away before stays so, however much it is; files that are only for reading are made anew each time.
    const root = await lstat(directory)
    if (!readOnly && root.gid === gid && (root.mode & 0o2770) === 0o2770) return
    await giveAway(
      directory,
      readOnly ? { gid, fileMode: 0o440, directoryMode: 0o2550 } : { gid, fileMode: 0o660, directoryMode: 0o2770 },
    )
  },

  async giveToUser(directory, uid) {
    if ((await lstat(directory)).uid !== uid) await giveAway(directory, { uid, gid: uid })
  },

  locate,

  async makeNote(file) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, '')
    await chmod(file, 0o666)
  },

  async writeFile(file, text) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
  },

  async readEnd(file, mostBytes) {
    const handle = await open(file, 'r').catch(() => undefined)
    if (!handle) return ''
    try {
      const { size } = await handle.stat()
      const bytes = Buffer.alloc(Math.min(size, mostBytes))
      await handle.read(bytes, 0, bytes.length, size - bytes.length)
      return bytes.toString('utf8')
    } finally {
      await handle.close()
    }
  },

  async remove(directory) {
    // Only what is the pod's own goes: whatever is still mounted is let go of first.
    for (const mounted of (await mountsBelow(directory)).reverse()) await run('umount', ['--lazy', mounted])
    await rm(directory, { recursive: true, force: true })
  },
}

const words: Readonly<Record<string, string>> = {
  Directory: 'directory',
  DirectoryOrCreate: 'directory',
  File: 'file',
  FileOrCreate: 'file',
  Socket: 'socket file',
  CharDevice: 'character device',
  BlockDevice: 'block device',
}

async function linkEntries(directory: string, files: VolumeFiles): Promise<void> {
  const wanted = new Set([...files.keys()].map((name) => name.split('/')[0]!))
  for (const entry of await readdir(directory))
    if (!entry.startsWith('..') && !wanted.has(entry)) await unlink(path.join(directory, entry))
  for (const name of wanted) {
    const at = path.join(directory, name)
    if (!(await lstat(at).catch(() => undefined))) await symlink(path.join('..data', name), at)
  }
}
