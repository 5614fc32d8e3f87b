import { cellStates } from '../../src/dashboard/stream/columns.ts'

export type CellState = (typeof cellStates)[number]
export { cellStates }

/** One pod of the picture. */
export interface Cell {
  id: number
  name: string
  state: CellState
  isOld: boolean
}

/** Colours of the theme, by state, and the old revision's. */
export type Palette = Record<CellState | 'old' | 'ground' | 'mark', string>

const sizes = [22, 18, 15, 12, 10, 8, 7, 6, 5, 4, 3]
/** The maximum height of the picture, unless the smallest cells need more. */
const highest = 380

export interface Layout {
  size: number
  columns: number
  height: number
}

/** The largest cells with which all pods fit. */
export function layoutFor(count: number, width: number): Layout {
  for (const size of sizes) {
    const columns = Math.max(1, Math.floor(width / size))
    const height = Math.ceil(Math.max(count, 1) / columns) * size
    if (height <= highest || size === sizes.at(-1)) return { size, columns, height }
  }
  throw new Error('there is no size of cells')
}

/**
 * Assigns each pod a fixed position. A new pod takes the position of one that is gone, so that a rollout changes
 * colours and moves nothing.
 */
export class Places {
  readonly #placeOf = new Map<number, number>()
  readonly cells: (Cell | undefined)[] = []
  #free: number[] = []

  /** Adds or updates a cell and returns its position. */
  put(cell: Cell): number {
    let place = this.#placeOf.get(cell.id)
    if (place === undefined) {
      place = this.#free.pop() ?? this.cells.length
      this.#placeOf.set(cell.id, place)
    }
    this.cells[place] = cell
    return place
  }

  remove(id: number): number | undefined {
    const place = this.#placeOf.get(id)
    if (place === undefined) return undefined
    this.#placeOf.delete(id)
    this.cells[place] = undefined
    this.#free.push(place)
    return place
  }

  /** Moves the last cells to free positions. Returns the positions that have changed. */
  close(): number[] {
    const changed: number[] = []
    for (const place of this.#free.toSorted((a, b) => a - b)) {
      while (this.cells.length > 0 && !this.cells.at(-1)) this.cells.length--
      if (place >= this.cells.length) break
      const cell = this.cells.pop()!
      this.cells[place] = cell
      this.#placeOf.set(cell.id, place)
      changed.push(place)
    }
    while (this.cells.length > 0 && !this.cells.at(-1)) this.cells.length--
    this.#free = []
    return changed
  }

  clear(): void {
    this.#placeOf.clear()
    this.cells.length = 0
    this.#free = []
  }
}

/**
 * Draws one cell. Large cells have a shape for each state; small cells have a colour. Problems are bright in any size.
 */
export function drawCell(
  g: CanvasRenderingContext2D,
  layout: Layout,
  place: number,
  cell: Cell | undefined,
  colours: Palette,
): void {
  const { size, columns } = layout
  const x = (place % columns) * size
  const y = Math.floor(place / columns) * size
  g.fillStyle = colours.ground
  g.fillRect(x, y, size, size)
  if (!cell) return
  const gap = size >= 8 ? 2 : 1
  const side = size - gap
  const { state, isOld } = cell
  const colour = isOld && state === 'available' ? colours.old : colours[state]
  g.fillStyle = colour
  if (size < 8) return g.fillRect(x, y, side, side)
  g.strokeStyle = colour
  g.lineWidth = Math.max(1.5, size / 9)
  const [left, top, half] = [x + 0.5, y + 0.5, side / 2]
  g.beginPath()
  if (state === 'available') {
    if (isOld) {
      // Pods of the old revision have a frame.
      g.strokeRect(left + 1, top + 1, side - 2, side - 2)
      g.globalAlpha = 0.35
      g.fillRect(left + 1, top + 1, side - 2, side - 2)
      g.globalAlpha = 1
    } else g.fillRect(left, top, side, side)
    return
  }
  if (state === 'trouble') {
    g.fillRect(left, top, side, side)
    g.strokeStyle = colours.mark
    const inset = side * 0.28
    g.moveTo(left + inset, top + inset)
    g.lineTo(left + side - inset, top + side - inset)
    g.moveTo(left + side - inset, top + inset)
    g.lineTo(left + inset, top + side - inset)
    return g.stroke()
  }
  if (state === 'starting') {
    g.arc(left + half, top + half, half * 0.72, 0, Math.PI * 1.5)
    return g.stroke()
  }
  if (state === 'waiting') {
    g.moveTo(left + half, top + 1)
    g.lineTo(left + side - 1, top + side - 1)
    g.lineTo(left + 1, top + side - 1)
    g.closePath()
    return g.fill()
  }
  if (state === 'ending') {
    g.arc(left + half, top + half, half * 0.4, 0, Math.PI * 2)
    return g.fill()
  }
  g.moveTo(left + side * 0.2, top + half)
  g.lineTo(left + side * 0.42, top + side * 0.75)
  g.lineTo(left + side * 0.82, top + side * 0.25)
  g.stroke()
}
