import { Interruption, type Overload, isOfType } from '../declarations.ts'
import type { Call, Node } from '../syntax/ast.ts'
import { Optional, type Value, noSuchOverload } from '../values.ts'
import { optionalSelect } from './access.ts'
import { type Frame, type NodeCompiler, type Step, checkLimit } from './frame.ts'
import {
  add,
  divide,
  equal,
  index,
  isIn,
  modulo,
  multiply,
  negate,
  optionalIndex,
  order,
  subtract,
} from './operators.ts'

/** `left && right`: false if either side is false, even if the other one fails. `||` is the mirror image with true. */
function logical(left: Step, right: Step, decisive: boolean): Step {
  return (frame) => {
    let first: Value
    try {
      first = left(frame)
    } catch (error) {
      if (error instanceof Interruption || right(frame) !== decisive) throw error
      return decisive
    }
    if (first === decisive) return decisive
    const second = right(frame)
    if (second === decisive) return decisive
    if (typeof first !== 'boolean' || typeof second !== 'boolean') throw noSuchOverload()
    return second
  }
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const decision = condition(frame)
    if (decision === true) return yes(frame)
    if (decision === false) return no(frame)
    throw noSuchOverload()
  }
}

/** Costs of functions that take longer here than cel-go's cost says. One unit is 10 ns. */
const arithmeticCost = 3

type Binary = (frame: Frame, a: Value, b: Value) => Value

const binary: Record<string, Binary> = {
  '_==_': equal,
  '_!=_': (frame, a, b) => !equal(frame, a, b),
  '_<_': (frame, a, b) => order(frame, a, b) < 0,
  '_<=_': (frame, a, b) => order(frame, a, b) <= 0,
  '_>_': (frame, a, b) => order(frame, a, b) > 0,
  '_>=_': (frame, a, b) => order(frame, a, b) >= 0,
  '_+_': add,
  '_-_': (frame, a, b) => {
    frame.cost += arithmeticCost
    return subtract(a, b)
  },
  '_*_': (frame, a, b) => {
    frame.cost += arithmeticCost
    return multiply(a, b)
  },
  '_/_': (frame, a, b) => {
    frame.cost += arithmeticCost
    return divide(a, b)
  },
  '_%_': (frame, a, b) => {
    frame.cost += arithmeticCost
    return modulo(a, b)
  },
  '_[_]': (frame, a, b) => {
    frame.cost++
    return index(a, b)
  },
  '_[?_]': (frame, a, b) => {
    frame.cost++
    return optionalIndex(a, b)
  },
  '_?._': (frame, a, b) => {
    frame.cost++
    return optionalSelect(a, b)
  },
  '@in': isIn,
}

/** The strings of a list literal that contains only string literals. */
function constantTexts(node: Node): Set<string> | undefined {
  if (node.kind !== 'list' || node.elements.length === 0 || node.optional.size > 0) return undefined
  const texts = new Set<string>()
  for (const element of node.elements) {
    if (element.kind !== 'literal' || typeof element.value !== 'string') return undefined
    texts.add(element.value)
  }
  return texts
}

function compileBinary(name: string, node: Call, a: Step, b: Step): Step {
  const texts = name === '@in' ? constantTexts(node.args[1]!) : undefined
  if (texts) {
    return (frame) => {
      frame.cost++
      return texts.has(a(frame) as string)
    }
  }
  const run = binary[name]!
  return (frame) => run(frame, a(frame), b(frame))
}

/** Compiles a call of an operator or function. */
export function compileCall(compiler: NodeCompiler, node: Call): Step {
  const args = (node.target ? [node.target, ...node.args] : node.args).map((arg) => compiler.compile(arg))
  const [a, b, c] = args as [Step, Step, Step]
  if (node.target) return compileFunction(node, args)
  switch (node.function) {
    case '_&&_':
      return logical(a, b, false)
    case '_||_':
      return logical(a, b, true)
    case '_?_:_':
      return conditional(a, b, c)
    case '!_':
      return (frame) => {
        frame.cost++
        const value = a(frame)
        if (typeof value !== 'boolean') throw noSuchOverload()
        return !value
      }
    case '-_':
      return (frame) => {
        frame.cost += arithmeticCost
        return negate(a(frame))
      }
    default:
      if (Object.hasOwn(binary, node.function)) return compileBinary(node.function, node, a, b)
      return compileFunction(node, args)
  }
}

const isKnown = (node: Node): boolean =>
  node.type !== undefined && node.type.kind !== 'dyn' && node.type.kind !== 'param' && node.type.kind !== 'error'

/** A nested dyn does not matter, because overloads are chosen by the outermost type. */
function compileFunction(node: Call, args: Step[]): Step {
  const given = node.target ? [node.target, ...node.args] : node.args
  const overloads = node.overloads ?? []
  const [only] = overloads
  if (only?.id.startsWith('optional_or')) return alternative(only, args)
  if (
    overloads.length === 1 &&
    only &&
    given.every((arg, i) => isKnown(arg) || only.args[i]!.kind === 'dyn' || only.args[i]!.kind === 'param')
  ) {
    return direct(only, args)
  }
  return dispatched(overloads, args)
}

/** `or` and `orValue` evaluate their argument only if there is no value. */
function alternative({ id }: Overload, [first, second]: Step[]): Step {
  const isValue = id === 'optional_orValue_value'
  return (frame) => {
    frame.cost++
    const optional = first!(frame)
    if (!(optional instanceof Optional)) throw noSuchOverload()
    if (optional.value === undefined) return second!(frame)
    return isValue ? optional.value : optional
  }
}

function direct({ run, cost }: Overload, args: Step[]): Step {
  const [a, b] = args
  if (args.length === 1 && !cost) {
    return (frame) => {
      frame.cost++
      return run(frame, a!(frame))
    }
  }
  if (args.length === 1 && cost) {
    return (frame) => {
      const value = a!(frame)
      const result = run(frame, value)
      frame.cost += cost(result, value)
      checkLimit(frame)
      return result
    }
  }
  if (args.length === 2) {
    return (frame) => {
      const [left, right] = [a!(frame), b!(frame)]
      const result = run(frame, left, right)
      frame.cost += cost ? cost(result, left, right) : 1
      checkLimit(frame)
      return result
    }
  }
  return (frame) => {
    const values = args.map((arg) => arg(frame))
    const result = run(frame, ...values)
    frame.cost += cost ? cost(result, ...values) : 1
    checkLimit(frame)
    return result
  }
}

/** Chooses the overload by the values if their types are not known at compile time. */
function dispatched(overloads: readonly Overload[], args: Step[]): Step {
  return (frame) => {
    const values = args.map((arg) => arg(frame))
    const overload = overloads.find((one) => one.args.every((type, i) => isOfType(values[i]!, type)))
    if (!overload) throw noSuchOverload()
    const result = overload.run(frame, ...values)
    frame.cost += overload.cost ? overload.cost(result, ...values) : 1
    checkLimit(frame)
    return result
  }
}
