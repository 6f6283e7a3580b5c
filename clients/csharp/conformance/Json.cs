using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

/// <summary>As much of JSON as the harness needs: values are dictionaries, lists, texts, doubles, booleans and null.</summary>
internal sealed class Json
{
    private readonly string text;
    private int at;

    private Json(string text)
    {
        this.text = text;
    }

    internal static object Parse(string text)
    {
        var json = new Json(text);
        var value = json.Value();
        return json.Peek() == '\0' ? value : throw json.Error("the end");
    }

    internal static string Write(object value)
    {
        var output = new StringBuilder();
        Write(value, output);
        return output.ToString();
    }

    private object Value()
    {
        switch (Peek())
        {
            case '{':
                return Object();
            case '[':
                return List();
            case '"':
                return String();
            case 't':
                return Word("true", true);
            case 'f':
                return Word("false", false);
            case 'n':
                return Word("null", null);
            default:
                return Number();
        }
    }

    private Dictionary<string, object> Object()
    {
        var members = new Dictionary<string, object>();
        Take('{');
        if (Peek() != '}')
        {
            do
            {
                var name = String();
                Take(':');
                members[name] = Value();
            }
            while (TakeIf(','));
        }
        Take('}');
        return members;
    }

    private List<object> List()
    {
        var elements = new List<object>();
        Take('[');
        if (Peek() != ']')
        {
            do
            {
                elements.Add(Value());
            }
            while (TakeIf(','));
        }
        Take(']');
        return elements;
    }

    private string String()
    {
        Take('"');
        var characters = new StringBuilder();
        while (at < text.Length)
        {
            var next = text[at++];
            if (next == '"')
            {
                return characters.ToString();
            }
            characters.Append(next == '\\' ? Escaped() : next);
        }
        throw Error("a text's end");
    }

    private char Escaped()
    {
        var next = text[at++];
        switch (next)
        {
            case 'u':
                at += 4;
                return (char)ushort.Parse(text.Substring(at - 4, 4), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            default:
                return next;
        }
    }

    private object Number()
    {
        var begin = at;
        while (at < text.Length && "+-.0123456789eE".IndexOf(text[at]) >= 0)
        {
            at++;
        }
        if (begin == at)
        {
            throw Error("a value");
        }
        return double.Parse(text.Substring(begin, at - begin), CultureInfo.InvariantCulture);
    }

    private object Word(string word, object value)
    {
        if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0)
        {
            throw Error(word);
        }
        at += word.Length;
        return value;
    }

    /// <summary>The next character that is no space; NUL at the end.</summary>
    private char Peek()
    {
        while (at < text.Length && text[at] <= ' ')
        {
            at++;
        }
        return at < text.Length ? text[at] : '\0';
    }

    private bool TakeIf(char wanted)
    {
        var found = Peek() == wanted;
        at += found ? 1 : 0;
        return found;
    }

    private void Take(char wanted)
    {
        if (!TakeIf(wanted))
        {
            throw Error($"'{wanted}'");
        }
    }

    private FormatException Error(string wanted) => new FormatException($"expected {wanted} at {at} of {text}");

    private static void Write(object value, StringBuilder output)
    {
        if (value == null)
        {
            output.Append("null");
        }
        else if (value is string characters)
        {
            Quote(characters, output);
        }
        else if (value is bool truth)
        {
            output.Append(truth ? "true" : "false");
        }
        else if (value is IDictionary members)
        {
            var separator = '{';
            foreach (DictionaryEntry member in members)
            {
                output.Append(separator);
                Quote((string)member.Key, output);
                output.Append(':');
                Write(member.Value, output);
                separator = ',';
            }
            output.Append(separator == '{' ? "{}" : "}");
        }
        else if (value is IEnumerable elements)
        {
            var separator = '[';
            foreach (var element in elements)
            {
                output.Append(separator);
                Write(element, output);
                separator = ',';
            }
            output.Append(separator == '[' ? "[]" : "]");
        }
        else
        {
            Write(value as IFormattable, output);
        }
    }

    private static void Write(IFormattable number, StringBuilder output)
    {
        // so that it is read as the same number
        var format = number is double ? "G17" : number is float ? "G9" : null;
        output.Append(number.ToString(format, CultureInfo.InvariantCulture));
    }

    private static void Quote(string text, StringBuilder output)
    {
        output.Append('"');
        foreach (var next in text)
        {
            if (next == '"' || next == '\\')
            {
                output.Append('\\').Append(next);
            }
            else if (next < ' ')
            {
                output.AppendFormat(CultureInfo.InvariantCulture, "\\u{0:x4}", (int)next);
            }
            else
            {
                output.Append(next);
            }
        }
        output.Append('"');
    }
}
