import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: from now on nothing reaches the device. xfstests cut the power this way. */
const cutPower = 'open(my $dir, "<", $ARGV[0]) or die; my $flags = pack("L", 2); ioctl($dir, 0x8004587D, $flags) or die "shutdown: $!"'

/** A file system of its own, ext4 in an image file: its disk can be full, hang, be read-only, or lose its power. */
export class LoopDisk {
  /** The mount point. */
  readonly path: string
  readonly #dir: string
  readonly #image: string

  private constructor(dir: string) {
    this.#dir = dir
    this.#image = join(dir, 'image')
    this.path = join(dir, 'mounted')
  }

  /** Why there can be none on this machine; undefined if there can. */
  static problem(): string | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux'
    if (!existsSync('/dev/loop-control')) return 'needs loop devices'
    try {
      LoopDisk.make(8).remove()
      return undefined
    } catch (e) {
      return (e as Error).message
    }
  }

  static make(megabytes: number): LoopDisk {
    const disk = new LoopDisk(mkdtempSync(join(tmpdir(), 'loop-disk-')))
    try {
      mkdirSync(disk.path)
      run('truncate', '-s', `${megabytes}M`, disk.#image)
      run('mkfs.ext4', '-q', '-F', '-m', '0', disk.#image)
      disk.#mount()
    } catch (e) {
      disk.remove()
      throw e
    }
    return disk
  }

  #mount(): void {
    run('mount', '-o', 'loop,noatime', this.#image, this.path)
  }

  /** Everything that was written and not synced is lost. The file system fails every read and write from then on. */
  cutPower(): void {
    run('perl', '-e', cutPower, this.path)
  }

  /** The machine starts again. Whoever has files open must have ended. */
  restart(): void {
    run('umount', this.path)
    this.#mount()
  }

  /** Writes hang from now on. */
  freeze(): void {
    run('fsfreeze', '--freeze', this.path)
  }

  thaw(): void {
    run('fsfreeze', '--unfreeze', this.path)
  }

  setReadOnly(isReadOnly: boolean): void {
    run('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.path)
  }

  remove(): void {
    try {
      run('fsfreeze', '--unfreeze', this.path)
    } catch {
      // It was not frozen.
    }
    try {
      run('umount', '--lazy', this.path)
    } catch {
      // It was not mounted.
    }
    rmSync(this.#dir, { recursive: true, force: true })
  }
}
