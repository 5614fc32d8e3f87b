import { Interruption } from '../declarations.ts'
import type { Comprehension } from '../syntax/ast.ts'
import { type CelError, MapValue, PlainMap, type Value, noSuchOverload } from '../values.ts'
import { insertEntry } from './access.ts'
import { type Frame, type NodeCompiler, type Step, checkLimit } from './frame.ts'

/** Sets the loop variables for one round. */
type Each = (frame: Frame, range: Value, body: () => boolean) => void

/** Runs a body for each element until it returns true. */
function rounds(first: number, second: number | undefined): Each {
  return (frame, range, body) => {
    const { slots } = frame
    if (Array.isArray(range)) {
      for (let i = 0; i < range.length; i++) {
        if (second === undefined) slots[first] = range[i]!
        else {
          slots[first] = i
          slots[second] = range[i]!
        }
        if (body()) return
      }
      return
    }
    if (!(range instanceof MapValue)) throw noSuchOverload()
    for (const key of range.keys()) {
      slots[first] = key
      if (second !== undefined) slots[second] = range.get(key)!
      if (body()) return
    }
  }
}

// cel-go's charge for each round of its general loop, beside the predicate: reading the accumulator, the condition,
// and making the list of one element that it adds. A map takes longer to fill here than there.
const roundCost = { all: 3, exists: 4, existsOne: 1, list: 12, mapInsert: 10, mapMerge: 10 }

/** `all` stops at the first false, `exists` at the first true. An error counts only if no other element decides. */
function quantifier(each: Each, range: Step, predicate: Step, decisive: boolean, cost: number): Step {
  return (frame) => {
    let failure: CelError | undefined
    let found = false
    frame.cost++
    each(frame, range(frame), () => {
      frame.cost += cost
      checkLimit(frame)
      try {
        const value = predicate(frame)
        if (value === decisive) return (found = true)
        if (typeof value !== 'boolean') failure ??= noSuchOverload()
      } catch (error) {
        if (error instanceof Interruption) throw error
        frame.cost += errorCost
        failure ??= error as CelError
      }
      return false
    })
    if (found) return decisive
    if (failure) throw failure
    return !decisive
  }
}

/** Throwing takes about as long as a hundred plain steps. */
const errorCost = 100

function existsOne(each: Each, range: Step, predicate: Step): Step {
  return (frame) => {
    let count = 0
    frame.cost += 2
    each(frame, range(frame), () => {
      frame.cost += roundCost.existsOne
      checkLimit(frame)
      const value = predicate(frame)
      if (typeof value !== 'boolean') throw noSuchOverload()
      if (value) count++
      return false
    })
    return count === 1
  }
}

function passes(filter: Step | undefined, frame: Frame): boolean {
  if (!filter) return true
  const value = filter(frame)
  if (typeof value !== 'boolean') throw noSuchOverload()
  return value
}

function toList(each: Each, range: Step, filter: Step | undefined, transform: Step): Step {
  return (frame) => {
    const list: Value[] = []
    frame.cost += 1
    each(frame, range(frame), () => {
      frame.cost++
      if (passes(filter, frame)) {
        frame.cost += roundCost.list - 1
        list.push(transform(frame))
      }
      checkLimit(frame)
      return false
    })
    return list
  }
}

/** cel-go copies the map for each entry and charges little for it. Here one map is filled. */
function toMap(each: Each, range: Step, filter: Step | undefined, transform: Step, key: number | undefined): Step {
  return (frame) => {
    const map = new PlainMap()
    frame.cost += 31
    each(frame, range(frame), () => {
      frame.cost++
      if (passes(filter, frame)) {
        const made = transform(frame)
        frame.cost += key === undefined ? roundCost.mapMerge : roundCost.mapInsert
        if (key !== undefined) insertEntry(map, frame.slots[key]!, made)
        else if (made instanceof MapValue) for (const name of made.keys()) insertEntry(map, name, made.get(name)!)
        else throw noSuchOverload()
      }
      checkLimit(frame)
      return false
    })
    return map
  }
}

/** Compiles the loop of a macro. */
export function compileLoop(compiler: NodeCompiler, node: Comprehension): Step {
  const range = compiler.compile(node.range)
  const names = node.iterVar2 === undefined ? [node.iterVar] : [node.iterVar, node.iterVar2]
  return compiler.withLocals(names, ([first, second]) => {
    const each = rounds(first!, second)
    const filter = node.filter && compiler.compile(node.filter)
    const transform = node.transform && compiler.compile(node.transform)
    switch (node.macro) {
      case 'all':
        return quantifier(each, range, filter!, false, roundCost.all)
      case 'exists':
        return quantifier(each, range, filter!, true, roundCost.exists)
      case 'existsOne':
        return existsOne(each, range, filter!)
      case 'list':
        return toList(each, range, filter, transform!)
      default:
        return toMap(each, range, filter, transform!, node.macro === 'mapInsert' ? first : undefined)
    }
  })
}
