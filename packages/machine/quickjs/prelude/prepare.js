// What happens before a program runs: its tools and input are put in place, a Markdown fence around it is taken away.
(function (natives, shared) {
  'use strict';
  const { split, join, test, exec, trim, SyntaxError } = shared.js;

  // Lines stay where they are, so that errors name the user's own.
  function withoutFence(code) {
    if (!test(/^\s*(```|~~~)/, code)) return code;
    const lines = split(code, '\n');
    let first = 0;
    while (trim(lines[first]) === '') first++;
    let last = lines.length - 1;
    while (trim(lines[last]) === '') last--;
    const fence = exec(/^\s*(`{3,}|~{3,})\s*([\w+-]*)\s*$/, lines[first]);
    if (!fence || last === first || trim(lines[last]) !== fence[1]) {
      throw new SyntaxError(`the code begins with a Markdown fence (${trim(lines[first])}) that ${fence ? 'is not closed at its end' : 'is not alone on its line'}; send the code alone, without fences`);
    }
    lines[first] = '';
    lines[last] = '';
    return join(lines, '\n');
  }

  shared.prepare = (start) => {
    shared.resetConsole();
    shared.installTools(start.tools);
    shared.global('input', start.input);
    shared.startClock();
    return withoutFence(start.code);
  };
  // Once before the base is taken: the global object has its final shape then, which every program shares.
  shared.prepare({ code: '', input: undefined, tools: [{ name: 'a.b', parameters: ['c'] }, { name: 'd', parameters: null }] });
})
