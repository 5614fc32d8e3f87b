import {
  access, chmod, lchown, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, stat, symlink, unlink, writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import type { VolumeFiles } from './files.ts'

/** Where volumes are kept. A runtime that has no use for them gets one that keeps nothing. */
export interface Disk {
  /** Whether anybody will read what is written. */
  readonly keepsFiles: boolean
  /** Makes a directory, its parents too, unless it is there. */
  makeDirectory(directory: string, mode?: number): Promise<void>
  /** Checks, or makes, a path of the host's as a hostPath volume's type says. Throws what is wrong with it. */
  prepareHostPath(hostPath: string, type: string): Promise<void>
  /** Makes the files of a directory these and no others, all at the same moment for who looks. */
  writeFiles(directory: string, files: VolumeFiles): Promise<void>
  /** Gives all of a directory to a group, which may read it, and unless it is only for reading write it; what is made in it later is the group's, too. */
  giveToGroup(directory: string, gid: number, readOnly: boolean): Promise<void>
  /**
   * The real path of what is `below` a volume's root, through links that stay inside. Directories that are missing are made with the
   * root's mode. Throws where it leads out of the volume.
   */
  subPath(root: string, below: string): Promise<string>
  /** Makes an empty file that everybody may write to, and its directory. */
  makeNote(file: string): Promise<void>
  /** The end of a file, of so many bytes; empty for one that is not there. */
  readEnd(file: string, mostBytes: number): Promise<string>
  /** Removes a directory with all that is in it. */
  remove(directory: string): Promise<void>
}

/** Keeps nothing. */
export const noDisk: Disk = {
  keepsFiles: false,
  makeDirectory: async () => {},
  prepareHostPath: async () => {},
  writeFiles: async () => {},
  giveToGroup: async () => {},
  subPath: async (root, below) => path.join(root, below),
  makeNote: async () => {},
  readEnd: async () => '',
  remove: async () => {},
}

const exists = (at: string): Promise<boolean> => access(at).then(() => true, () => false)

/** The machine's own file system. */
export const localDisk: Disk = {
  keepsFiles: true,

  async makeDirectory(directory, mode) {
    await mkdir(directory, { recursive: true })
    if (mode !== undefined) await chmod(directory, mode)
  },

  async prepareHostPath(hostPath, type) {
    const isThere = await exists(hostPath)
    if (type === '' && isThere) return
    // Without a type kubelet checks nothing, and the runtime makes the directory that it lacks.
    if ((type === '' || type === 'DirectoryOrCreate') && !isThere) return void (await mkdir(hostPath, { recursive: true, mode: 0o755 }))
    if (type === 'FileOrCreate' && !isThere) return writeFile(hostPath, '', { mode: 0o644 })
    if (!isThere) throw new Error(`hostPath type check failed: ${hostPath} is not a ${words[type] ?? type}`)
    const info = await stat(hostPath)
    const isRight = type.startsWith('Directory') ? info.isDirectory() : type.startsWith('File') ? info.isFile() : type === 'Socket' ? info.isSocket() : true
    if (!isRight) throw new Error(`hostPath type check failed: ${hostPath} is not a ${words[type] ?? type}`)
  },

  /** As Kubernetes does it: files are links through `..data`, which is turned over to a new directory in one step. */
  async writeFiles(directory, files) {
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
    for (const at of [directory, ...(await readdir(directory, { recursive: true })).map((name) => path.join(directory, name))]) {
      const info = await lstat(at)
      await lchown(at, info.uid, gid)
      if (info.isSymbolicLink()) continue
      const mask = (readOnly ? 0o440 : 0o660) | (info.isDirectory() ? 0o2110 : 0)
      await chmod(at, (info.mode & 0o7777) | mask)
    }
  },

  async subPath(root, below) {
    const top = await realpath(root)
    const { mode } = await stat(top)
    let at = top
    for (const name of below.split('/').filter((part) => part !== '' && part !== '.')) {
      const next = path.join(at, name)
      const isThere = await lstat(next).then(() => true, () => false)
      if (!isThere) {
        await mkdir(next)
        await chmod(next, mode & 0o7777)
      }
      // A container of the pod may have left a link here that leads anywhere.
      at = await realpath(next)
      if (at !== top && !at.startsWith(`${top}${path.sep}`)) throw new Error(`subpath ${JSON.stringify(at)} not within volume path ${JSON.stringify(top)}`)
    }
    return at
  },

  async makeNote(file) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, '')
    await chmod(file, 0o666)
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
    await rm(directory, { recursive: true, force: true })
  },
}

const words: Readonly<Record<string, string>> = { Directory: 'directory', DirectoryOrCreate: 'directory', File: 'file', FileOrCreate: 'file', Socket: 'socket file', CharDevice: 'character device', BlockDevice: 'block device' }

async function linkEntries(directory: string, files: VolumeFiles): Promise<void> {
  const wanted = new Set([...files.keys()].map((name) => name.split('/')[0]!))
  for (const entry of await readdir(directory)) if (!entry.startsWith('..') && !wanted.has(entry)) await unlink(path.join(directory, entry))
  for (const name of wanted) {
    const at = path.join(directory, name)
    if (!(await lstat(at).catch(() => undefined))) await symlink(path.join('..data', name), at)
  }
}
