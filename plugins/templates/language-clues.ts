/** What extensions that several languages share most likely stand for. */
export const preferred: ReadonlyMap<string, string> = new Map([
  ['.as', 'ActionScript'],
  ['.asm', 'Assembly'],
  ['.bas', 'VBA'],
  ['.cl', 'OpenCL'],
  ['.cls', 'TeX'],
  ['.cs', 'C#'],
  ['.d', 'D'],
  ['.es', 'JavaScript'],
  ['.ex', 'Elixir'],
  ['.f', 'Fortran'],
  ['.fs', 'F#'],
  ['.gs', 'JavaScript'],
  ['.h', 'C'],
  ['.html', 'HTML'],
  ['.inc', 'PHP'],
  ['.l', 'Lex'],
  ['.lisp', 'Common Lisp'],
  ['.m', 'Objective-C'],
  ['.md', 'Markdown'],
  ['.ml', 'OCaml'],
  ['.mod', 'Modula-2'],
  ['.n', 'Roff'],
  ['.php', 'PHP'],
  ['.pl', 'Perl'],
  ['.pm', 'Perl'],
  ['.pp', 'Puppet'],
  ['.pro', 'Prolog'],
  ['.r', 'R'],
  ['.rs', 'Rust'],
  ['.s', 'Assembly'],
  ['.sc', 'Scala'],
  ['.sh', 'Shell'],
  ['.sql', 'SQL'],
  ['.t', 'Perl'],
  ['.ts', 'TypeScript'],
  ['.tsx', 'TSX'],
  ['.v', 'Verilog'],
  ['.vba', 'VBA'],
  ['.yaml', 'YAML'],
  ['.yml', 'YAML'],
])

type Clue = readonly [RegExp, string]

/** Words that only one of the candidates has. The first that is found decides. */
const clues: Readonly<Record<string, readonly Clue[]>> = {
  '.h': [
    [
      /^\s*(?:@(?:interface|class|protocol|property|end|synchronized|selector|implementation)\b|#import\b)/m,
      'Objective-C',
    ],
    [
      /^\s*#\s*include\s*<(?:cstdint|string|vector|map|list|array|memory|iostream|algorithm|functional|utility)>|^\s*(?:class|namespace)\s+\w+|^\s*template\s*<|\bstd::\w|^\s*(?:public|private|protected)\s*:|\busing\s+namespace\b/m,
      'C++',
    ],
  ],
  '.m': [
    [/^\s*(?:@(?:interface|class|protocol|property|end|implementation)\b|#import\b)/m, 'Objective-C'],
    [/^\s*:- module\b/m, 'Mercury'],
    [/^\s*\(\*/m, 'Mathematica'],
    [/^\s*(?:%|function\b|classdef\b|end\s*$)/m, 'MATLAB'],
  ],
  '.pl': [
    [/^[^#\n]*:-/m, 'Prolog'],
    [/\buse\s+(?:strict\b|v?5\b)|^\s*my\s+[$@%]/m, 'Perl'],
    [/^\s*(?:use\s+v6\b|\bmodule\b|\bmy\s+class\b)/m, 'Raku'],
  ],
  '.t': [
    [/\buse\s+(?:strict\b|v?5\b)|^\s*my\s+[$@%]/m, 'Perl'],
    [/^\s*(?:use\s+v6\b|unit\s+module\b)/m, 'Raku'],
  ],
  '.cls': [
    [/^VERSION \d\.\d CLASS/m, 'VBA'],
    [/^\s*(?:public|private|global)\s+(?:\w+\s+)*class\b/im, 'Apex'],
  ],
  '.cl': [[/^\s*\((?:defun|defmacro|defpackage|in-package|let|setq?)\b/im, 'Common Lisp']],
  '.rs': [[/^\s*(?:#pragma\s|rs_\w+\s)/m, 'RenderScript']],
  '.ts': [[/<TS\b/, 'XML']],
  '.tsx': [[/^\s*<\?xml\s+version/, 'XML']],
  '.v': [
    [/^\s*(?:Require|Theorem|Lemma|Proof)\b/m, 'Coq'],
    [/^\s*(?:fn\s+\w+\s*\(|pub\s+fn\b|import\s+os\s*$)/m, 'V'],
    [/\b(?:end)?module\b/m, 'Verilog'],
  ],
  '.d': [[/^[\w./-]+\.o\s*:|\\\n/m, 'Makefile']],
  '.r': [[/\bRebol\b/i, 'Rebol']],
  '.fs': [[/^\s*(?:#version|precision\s|varying\s|uniform\s)/m, 'GLSL']],
  '.cs': [[/^\s*(?:!|method)\s*\w+\s*$/m, 'Smalltalk']],
  '.pp': [[/^\s*(?:unit|program|uses)\b/im, 'Pascal']],
  '.pro': [
    [/^[^#\n]*:-/m, 'Prolog'],
    [/^\s*(?:HEADERS|SOURCES|CONFIG|TEMPLATE)\b/m, 'QMake'],
  ],
  '.ex': [[/^\s*(?:include\s+\w+\.e\b|global\s+(?:procedure|function)\b)/m, 'Euphoria']],
  '.inc': [[/<\?php/, 'PHP']],
  '.php': [[/<\?hh/, 'Hack']],
  '.es': [[/^\s*(?:%%|-module\()/m, 'Erlang']],
  '.sc': [[/(?:^|\s)(?:SynthDef|Ndef|Tdef)\b/, 'SuperCollider']],
  '.ml': [[/=> /, 'Standard ML']],
  '.mod': [[/^\s*(?:IMPLEMENTATION\s+)?MODULE\b/m, 'Modula-2']],
}

/** The language that the beginning of a file with this extension gives away. */
export function recognise(extension: string, head: string): string | undefined {
  return clues[extension]?.find(([pattern]) => pattern.test(head))?.[1]
}
